#version 450
// Writes the words of one input, as they are, to the place of its vertex and instance.
layout(location = 0) in vec4 value;
layout(set = 0, binding = 0, std430) writeonly buffer Words { uvec4 words[]; };
// First vertex, vertices of an instance, first instance.
layout(set = 0, binding = 1, std140) uniform Range { uvec4 range; };
void main() {
    uint place = (uint(gl_InstanceIndex) - range.z) * range.y + uint(gl_VertexIndex) - range.x;
    words[place] = floatBitsToUint(value);
    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
    gl_PointSize = 1.0;
}
