//! A capture of heavy pipelines, made by code.

use crate::bench::heavy;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use standin_foz::writer::{Encoding, WriteError};
use standin_foz::{EntryKey, Tag, Writer};
use std::io::Write;

/// Keys in the capture. A key that is read from a database is opaque, so any will do.
const LAYOUT: u64 = 1;
const VERTEX: u64 = 2;
const FIRST_FRAGMENT: u64 = 0x100;
const FIRST_PIPELINE: u64 = 0x1000;

/// Writes a database of pipelines that are alike but for the seed of their fragment program.
pub(crate) fn write(output: impl Write, count: u32) -> Result<(), WriteError> {
    let mut writer = Writer::create(output, Encoding::Layer)?;
    let mut put = |tag: Tag, member: &str, key: u64, body: &Value| {
        let payload = json!({ "version": 6, member: { hex(key): body } });
        writer.write(EntryKey::new(tag, key), payload.to_string().as_bytes())
    };
    let layout = json!({ "flags": 0, "pushConstantRanges": [], "setLayouts": [] });
    put(Tag::PipelineLayout, "pipelineLayouts", LAYOUT, &layout)?;
    let vertex = module(&heavy::vertex());
    put(Tag::ShaderModule, "shaderModules", VERTEX, &vertex)?;
    for seed in 0..count {
        let fragment = FIRST_FRAGMENT + u64::from(seed);
        let code = module(&heavy::fragment(seed));
        put(Tag::ShaderModule, "shaderModules", fragment, &code)?;
        let key = FIRST_PIPELINE + u64::from(seed);
        let body = pipeline(fragment);
        put(Tag::GraphicsPipeline, "graphicsPipelines", key, &body)?;
    }
    writer.finish()?;
    Ok(())
}

fn hex(key: u64) -> String {
    format!("{key:016x}")
}

/// A module in the form that older recorders wrote, with the code in base64.
fn module(code: &[u32]) -> Value {
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    json!({ "flags": 0, "codeSize": bytes.len(), "code": STANDARD.encode(bytes) })
}

fn pipeline(fragment: u64) -> Value {
    // Vulkan's numbers: stages VERTEX 1 and FRAGMENT 0x10, topology TRIANGLE_LIST 3, formats
    // R32G32B32A32_SFLOAT 109 and R8G8B8A8_UNORM 37, dynamic VIEWPORT 0 and SCISSOR 1; chained
    // is VkPipelineRenderingCreateInfo.
    let stage = |bit: u32, module: u64| json!({ "flags": 0, "name": "main", "module": hex(module), "stage": bit });
    json!({
        "flags": 0,
        "basePipelineHandle": hex(0),
        "basePipelineIndex": 0,
        "layout": hex(LAYOUT),
        "renderPass": hex(0),
        "subpass": 0,
        "stages": [stage(1, VERTEX), stage(0x10, fragment)],
        "dynamicState": { "flags": 0, "dynamicState": [0, 1] },
        "vertexInputState": {
            "flags": 0,
            "attributes": [{ "location": 0, "binding": 0, "offset": 0, "format": 109 }],
            "bindings": [{ "binding": 0, "stride": 16, "inputRate": 0 }],
        },
        "inputAssemblyState": { "flags": 0, "topology": 3, "primitiveRestartEnable": 0 },
        "viewportState": { "flags": 0, "viewportCount": 1, "scissorCount": 1 },
        "rasterizationState": {
            "flags": 0, "depthClampEnable": 0, "rasterizerDiscardEnable": 0, "polygonMode": 0,
            "cullMode": 0, "frontFace": 0, "depthBiasEnable": 0, "depthBiasConstantFactor": 0,
            "depthBiasSlopeFactor": 0, "depthBiasClamp": 0, "lineWidth": 1,
        },
        "multisampleState": {
            "flags": 0, "rasterizationSamples": 1, "sampleShadingEnable": 0,
            "minSampleShading": 0, "alphaToOneEnable": 0, "alphaToCoverageEnable": 0,
        },
        "colorBlendState": {
            "flags": 0, "logicOp": 0, "logicOpEnable": 0, "blendConstants": [0, 0, 0, 0],
            "attachments": [{
                "srcColorBlendFactor": 0, "dstColorBlendFactor": 0, "colorBlendOp": 0,
                "srcAlphaBlendFactor": 0, "dstAlphaBlendFactor": 0, "alphaBlendOp": 0,
                "colorWriteMask": 15, "blendEnable": 0,
            }],
        },
        "pNext": [{
            "sType": 1_000_044_002, "viewMask": 0, "depthAttachmentFormat": 0,
            "stencilAttachmentFormat": 0, "colorAttachmentFormats": [37],
        }],
    })
}
