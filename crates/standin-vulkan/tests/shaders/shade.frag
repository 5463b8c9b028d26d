#version 450
layout(constant_id = 3) const float scale = 1.0;
layout(location = 0) in vec4 shade;
layout(location = 0) out vec4 colour;
void main() {
    if (shade.a == 0.0) discard;
    colour = shade * scale;
}
