//! Payloads: JSON, and the binary data of shader modules behind it.
//!
//! The structs here have the members of `docs/foz.md` under Vulkan's names, as numbers. They are
//! what is read, hashed and written; `recipes` turns them into recipes and `record` makes them of
//! recipes.

pub(crate) mod chain;
pub(crate) mod pipeline;
pub(crate) mod render_pass;
pub(crate) mod resource;

use crate::entry::FozKey;
use crate::stream::Damage;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Whether an optional member is left out.
pub(crate) trait Absent {
    fn absent(&self) -> bool;
}

impl<T> Absent for Option<T> {
    fn absent(&self) -> bool {
        self.is_none()
    }
}

impl<T> Absent for Vec<T> {
    fn absent(&self) -> bool {
        self.is_empty()
    }
}

/// Structs of a payload: required members, then after `;` those that may be missing.
macro_rules! bodies {
    ($($(#[$meta:meta])* struct $name:ident {
        $($field:ident: $type:ty,)*
        $(; $($option:ident: $option_type:ty,)*)?
    })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
            $($(
                #[serde(default, skip_serializing_if = "crate::json::Absent::absent")]
                pub(crate) $option: $option_type,
            )*)?
        }
    )*};
}
pub(crate) use bodies;

/// A reference to another entry: 16 hexadecimal digits, all 0 for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Handle(pub(crate) u64);

impl Handle {
    pub(crate) fn key(self) -> Option<FozKey> {
        (self.0 != 0).then_some(FozKey(self.0))
    }
}

impl Serialize for Handle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&FozKey(self.0))
    }
}

struct HandleVisitor;

impl Visitor<'_> for HandleVisitor {
    type Value = Handle;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key of up to 16 hexadecimal digits")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Handle, E> {
        let hex = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u64::from_str_radix(text, 16) {
            Ok(key) if hex => Ok(Handle(key)),
            _ => Err(E::invalid_value(
                serde::de::Unexpected::Str(text),
                &"a key of up to 16 hexadecimal digits",
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Handle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(HandleVisitor)
    }
}

/// A float, printed as a double. It cannot be infinite or not a number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Real(pub(crate) f32);

impl Serialize for Real {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(f64::from(self.0))
        } else {
            Err(S::Error::custom(
                "JSON has no number for an infinite float or one that is not a number",
            ))
        }
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The reference reader narrows in the same way; what overflows would be infinite.
        let value = f64::deserialize(deserializer)? as f32;
        if value.is_finite() {
            Ok(Self(value))
        } else {
            Err(D::Error::custom("a number is too large for a float"))
        }
    }
}

/// A small binary: base64 with padding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Blob(pub(crate) Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use base64::Engine as _;
        serializer.serialize_str(&base64::engine::general_purpose::STANDARD.encode(&self.0))
    }
}

struct BlobVisitor;

impl Visitor<'_> for BlobVisitor {
    type Value = Blob;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64 text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Blob, E> {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD
            .decode(text)
            .map(Blob)
            .map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(BlobVisitor)
    }
}

/// An object whose members are named by keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Members<T>(pub(crate) Vec<(Handle, T)>);

impl<T: Serialize> Serialize for Members<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, body) in &self.0 {
            map.serialize_entry(key, body)?;
        }
        map.end()
    }
}

struct MembersVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MembersVisitor<T> {
    type Value = Members<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with keys as names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<T>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor(PhantomData))
    }
}

#[derive(Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
/// The top object of a payload, whatever its tag.
pub(crate) struct Document {
    pub(crate) version: u32,
    #[serde(skip_serializing_if = "Absent::absent")]
    pub(crate) application_info: Option<resource::ApplicationBody>,
    #[serde(skip_serializing_if = "Absent::absent")]
    pub(crate) physical_device_features: Option<resource::FeaturesBody>,
    #[serde(skip_serializing_if = "Absent::absent")]
    pub(crate) samplers: Option<Members<resource::SamplerBody>>,
    #[serde(skip_serializing_if = "Absent::absent")]
    pub(crate) set_layouts: Option<Members<resource::SetLayoutBody>>,
    #[serde(skip_serializing_if = "Absent::absent")]
    pub(crate) pipeline_layouts: Option<Members<resource::PipelineLayoutBody>>,
    #[serde(skip_serializing_if = "Absent::absent")]
    pub(crate) shader_modules: Option<Members<resource::ModuleBody>>,
    #[serde(skip_serializing_if = "Absent::absent")]
    pub(crate) render_passes: Option<Members<render_pass::RenderPassBody>>,
    #[serde(rename = "renderPasses2", skip_serializing_if = "Absent::absent")]
    pub(crate) render_passes2: Option<Members<render_pass::RenderPassBody>>,
    #[serde(skip_serializing_if = "Absent::absent")]
    pub(crate) graphics_pipelines: Option<Members<pipeline::GraphicsBody>>,
    #[serde(skip_serializing_if = "Absent::absent")]
    pub(crate) compute_pipelines: Option<Members<pipeline::ComputeBody>>,
    #[serde(skip_serializing_if = "Absent::absent")]
    pub(crate) link: Option<resource::LinkBody>,
    #[serde(rename = "raytracingPipelines", skip_serializing_if = "Absent::absent")]
    pub(crate) ray_tracing_pipelines: Option<Members<pipeline::RayTracingBody>>,
}

/// Parses a payload into its top object and what follows the text.
pub(crate) fn parse(payload: &[u8]) -> Result<(Document, &[u8]), Damage> {
    // JSON has no 0 byte in it, not even in a string.
    let end = payload
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(payload.len());
    let (text, rest) = payload.split_at(end);
    let document: Document =
        serde_json::from_slice(text).map_err(|error| Damage::Json(error.to_string()))?;
    if !matches!(document.version, 5 | 6) {
        return Err(Damage::Json(format!(
            "version {} is not known",
            document.version
        )));
    }
    Ok((document, rest.get(1..).unwrap_or_default()))
}
