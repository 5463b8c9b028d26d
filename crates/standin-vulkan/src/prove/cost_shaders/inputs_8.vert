#version 450
// 8 attributes, fetched in whatever way.
layout(location = 0) in vec4 a0;
layout(location = 1) in vec4 a1;
layout(location = 2) in vec4 a2;
layout(location = 3) in vec4 a3;
layout(location = 4) in vec4 a4;
layout(location = 5) in vec4 a5;
layout(location = 6) in vec4 a6;
layout(location = 7) in vec4 a7;
void main() {
    vec4 sum = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7;
    // Outside of the clip volume, and dependent on every component.
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0) + 1e-20 * sum;
}
