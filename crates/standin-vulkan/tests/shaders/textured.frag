#version 450
layout(set = 0, binding = 0) uniform Block { vec4 factor; } block;
layout(set = 0, binding = 1) uniform sampler2D flat_image;
layout(set = 0, binding = 2) uniform sampler3D deep_image;
layout(set = 0, binding = 3) uniform samplerCube cube_image;
layout(set = 0, binding = 4) buffer Result { uint touched; } result;
layout(location = 0) in vec4 shade;
layout(location = 0) out vec4 colour;
void main() {
    atomicAdd(result.touched, 1u);
    colour = block.factor * vec4(
        texture(flat_image, vec2(0.25)).r,
        texture(deep_image, vec3(0.25, 0.25, 0.75)).r,
        texture(cube_image, vec3(0.0, 1.0, 0.0)).r,
        shade.a);
}
