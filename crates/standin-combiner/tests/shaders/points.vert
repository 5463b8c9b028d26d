#version 450
// Passes a fragment's inputs through, at a given place.
layout(location = 0) in vec4 in_v0;
layout(location = 1) in vec4 in_v1;
layout(location = 2) in float in_fog;
layout(location = 3) in vec4 in_t0;
layout(location = 4) in vec4 in_t1;
layout(location = 5) in vec4 in_t2;
layout(location = 6) in vec4 in_t3;
layout(location = 7) in vec2 in_place;

layout(location = 0) out vec4 v0;
layout(location = 1) out vec4 v1;
layout(location = 2) out float fog;
layout(location = 3) out vec4 t0;
layout(location = 4) out vec4 t1;
layout(location = 5) out vec4 t2;
layout(location = 6) out vec4 t3;

void main() {
    v0 = in_v0;
    v1 = in_v1;
    fog = in_fog;
    t0 = in_t0;
    t1 = in_t1;
    t2 = in_t2;
    t3 = in_t3;
    gl_Position = vec4(in_place, 0.0, 1.0);
    gl_PointSize = 1.0;
}
