#version 450
// 2 attributes, fetched in whatever way.
layout(location = 0) in vec4 a0;
layout(location = 1) in vec4 a1;
void main() {
    vec4 sum = a0 + a1;
    // Outside of the clip volume, and dependent on every component.
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0) + 1e-20 * sum;
}
