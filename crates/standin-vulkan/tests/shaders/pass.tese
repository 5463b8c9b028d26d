#version 450
layout(triangles) in;
layout(location = 0) in vec4 shade[];
layout(location = 0) out vec4 shade_out;
void main() {
    gl_Position = gl_TessCoord.x * gl_in[0].gl_Position + gl_TessCoord.y * gl_in[1].gl_Position
        + gl_TessCoord.z * gl_in[2].gl_Position;
    shade_out = shade[0];
}
