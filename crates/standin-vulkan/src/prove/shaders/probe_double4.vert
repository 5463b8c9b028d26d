#version 450
// Writes the words of one 64-bit input to the two places of its vertex and instance.
layout(location = 0) in dvec4 value;
layout(set = 0, binding = 0, std430) writeonly buffer Words { uvec4 words[]; };
// First vertex, vertices of an instance, first instance.
layout(set = 0, binding = 1, std140) uniform Range { uvec4 range; };
void main() {
    uint place = (uint(gl_InstanceIndex) - range.z) * range.y + uint(gl_VertexIndex) - range.x;
    words[2u * place] = uvec4(unpackDouble2x32(value.x), unpackDouble2x32(value.y));
    words[2u * place + 1u] = uvec4(unpackDouble2x32(value.z), unpackDouble2x32(value.w));
    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
    gl_PointSize = 1.0;
}
