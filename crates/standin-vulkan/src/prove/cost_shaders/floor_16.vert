#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// The floor: the layout of 16 attributes is known when this is compiled.
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Words { uint words[]; };
layout(set = 0, binding = 0, std140) uniform Base { uvec2 base; };
uint w(uint index) { return Words(base).words[gl_VertexIndex * 30u + index]; }
vec4 unpack10(uint word) {
    ivec4 parts = ivec4(int(word << 22) >> 22, int(word << 12) >> 22, int(word << 2) >> 22, int(word) >> 30);
    return max(vec4(parts) * vec4(vec3(1.0 / 511.0), 1.0), -1.0);
}
void main() {
    vec4 sum = vec4(0.0);
    sum += vec4(uintBitsToFloat(uvec3(w(0), w(1), w(2))), 1.0);
    sum += unpackUnorm4x8(w(3));
    sum += vec4(unpackHalf2x16(w(4)), 0.0, 1.0);
    sum += vec4(unpackSnorm2x16(w(5)), unpackSnorm2x16(w(6)));
    sum += unpack10(w(7));
    sum += vec4(uintBitsToFloat(uvec2(w(8), w(9))), 0.0, 1.0);
    sum += unpackSnorm4x8(w(10));
    sum += uintBitsToFloat(uvec4(w(11), w(12), w(13), w(14)));
    sum += vec4(uintBitsToFloat(uvec3(w(15), w(16), w(17))), 1.0);
    sum += unpackUnorm4x8(w(18));
    sum += vec4(unpackHalf2x16(w(19)), 0.0, 1.0);
    sum += vec4(unpackSnorm2x16(w(20)), unpackSnorm2x16(w(21)));
    sum += unpack10(w(22));
    sum += vec4(uintBitsToFloat(uvec2(w(23), w(24))), 0.0, 1.0);
    sum += unpackSnorm4x8(w(25));
    sum += uintBitsToFloat(uvec4(w(26), w(27), w(28), w(29)));
    // Outside of the clip volume, and dependent on every component.
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0) + 1e-20 * sum;
}
