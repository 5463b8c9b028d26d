#version 450
// A position through two matrices, beside arithmetic that a compiler may fuse with it.
layout(location = 0) in vec3 position;
layout(location = 1) in vec4 colour;
layout(location = 2) in vec2 sway;
layout(set = 0, binding = 0, std140) uniform Camera { mat4 world; mat4 projection; };
layout(location = 0) out vec4 tint;
void main() {
    vec3 swayed = position + vec3(sway * position.z, dot(sway, position.xy)) * 0.25;
    vec4 placed = world * vec4(swayed, 1.0);
    gl_Position = projection * placed;
    tint = colour * dot(placed.xyz, swayed) + colour;
}
