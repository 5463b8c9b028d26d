#version 460
#extension GL_EXT_ray_query : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
// One ray for each invocation, from z = -1 through (i + 1/4, 1/4): the custom index of the
// nearest instance plus one, or 0.
layout(local_size_x = 64) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Hits { uint hit[]; };
layout(push_constant) uniform Push { uvec2 scene; uvec2 hits; uint count; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) return;
    rayQueryEXT query;
    rayQueryInitializeEXT(query, accelerationStructureEXT(scene), gl_RayFlagsOpaqueEXT, 0xff,
                          vec3(float(i) + 0.25, 0.25, -1.0), 0.0, vec3(0.0, 0.0, 1.0), 10.0);
    while (rayQueryProceedEXT(query)) {}
    bool hit = rayQueryGetIntersectionTypeEXT(query, true) == gl_RayQueryCommittedIntersectionTriangleEXT;
    Hits(hits).hit[i] = hit ? 1u + rayQueryGetIntersectionInstanceCustomIndexEXT(query, true) : 0u;
}
