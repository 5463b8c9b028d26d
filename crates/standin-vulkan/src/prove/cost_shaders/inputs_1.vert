#version 450
// 1 attributes, fetched in whatever way.
layout(location = 0) in vec4 a0;
void main() {
    vec4 sum = a0;
    // Outside of the clip volume, and dependent on every component.
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0) + 1e-20 * sum;
}
