#version 450
// Positions and colours from vertex buffers; the instance moves the triangle.
layout(location = 0) in vec2 position;
layout(location = 1) in vec4 colour;
layout(location = 2) in float shift;
layout(location = 0) out vec4 shade;
layout(push_constant) uniform Push { float depth; };
invariant gl_Position;
void main() {
    gl_Position = vec4(position.x + shift, position.y, depth, 1.0);
    shade = colour;
}
