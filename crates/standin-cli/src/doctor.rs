//! `standin doctor`: the devices, what they can do that matters here, and which routes each can
//! take.

use crate::exit::{Failure, Outcome};
use crate::output::{self, FormatArgs, Report, words};
use serde::Serialize;
use standin_vulkan::ash::vk;
use standin_vulkan::capabilities::Identity;
use standin_vulkan::{Capabilities, DeviceKind, Feature, Instance, InstanceSettings};
use std::fmt::Write;

/// List the devices, what they can do, and which routes each can take.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let instance = Instance::new(&InstanceSettings::default())
        .map_err(|error| Failure::Device(error.to_string()))?;
    let devices = instance
        .physical_devices()
        .map_err(|error| Failure::Device(error.to_string()))?;
    if devices.is_empty() {
        let text = "no Vulkan device was found; install a driver, such as mesa-vulkan-drivers";
        return Err(Failure::Device(text.into()));
    }
    let devices = devices
        .iter()
        .enumerate()
        .map(|(index, device)| Device::of(index, device.capabilities()))
        .collect();
    output::print(&Found { devices }, args.format.format())?;
    Ok(Outcome::AllWell)
}

#[derive(Debug, Serialize)]
struct Found {
    devices: Vec<Device>,
}

#[derive(Debug, Serialize)]
struct Device {
    index: usize,
    identity: Identity,
    capabilities: Vec<Capability>,
    routes: Vec<Route>,
}

/// Something that the code asks devices for.
#[derive(Debug, Serialize)]
struct Capability {
    name: &'static str,
    present: bool,
    used_for: &'static str,
}

/// A way to an executable. `missing` says why the device cannot take it.
#[derive(Debug, Serialize)]
struct Route {
    name: &'static str,
    missing: Option<&'static str>,
}

impl Device {
    fn of(index: usize, can: &Capabilities) -> Self {
        Self {
            index,
            identity: can.identity.clone(),
            capabilities: capabilities(can),
            routes: routes(can),
        }
    }
}

fn capabilities(can: &Capabilities) -> Vec<Capability> {
    let has = |feature| can.features.has(feature);
    let fast = can.library.is_some_and(|library| library.fast_linking);
    let controlled = can
        .pipeline_binary
        .is_some_and(|binary| binary.internal_cache_control);
    [
        (
            "graphics pipeline libraries",
            can.library.is_some(),
            "linked stand-ins",
        ),
        ("fast linking", fast, "links on the draw's path"),
        (
            "pipeline binaries",
            can.pipeline_binary.is_some(),
            "archive blobs, one pipeline each",
        ),
        ("internal cache control", controlled, "true cold runs"),
        (
            "dynamic vertex input",
            has(Feature::VertexInputDynamicState),
            "dynamic stand-ins",
        ),
        (
            "extended dynamic state",
            has(Feature::ExtendedDynamicState),
            "dynamic stand-ins",
        ),
        (
            "extended dynamic state 2",
            has(Feature::ExtendedDynamicState2),
            "dynamic stand-ins",
        ),
        (
            "dynamic blend equation",
            has(Feature::ExtendedDynamicState3ColorBlendEquation),
            "dynamic stand-ins",
        ),
        (
            "buffer device address",
            has(Feature::BufferDeviceAddress),
            "pulled stand-ins",
        ),
        (
            "instance divisors",
            has(Feature::VertexAttributeInstanceRateDivisor),
            "captures that use them",
        ),
        (
            "dynamic rendering",
            has(Feature::DynamicRendering),
            "captures that use it",
        ),
        (
            "subgroup size control",
            has(Feature::SubgroupSizeControl),
            "captures that use it",
        ),
        (
            "robust buffer access 2",
            has(Feature::RobustBufferAccess2),
            "captures that use it",
        ),
    ]
    .into_iter()
    .map(|(name, present, used_for)| Capability {
        name,
        present,
        used_for,
    })
    .collect()
}

fn routes(can: &Capabilities) -> Vec<Route> {
    let has = |feature| can.features.has(feature);
    let unless = |fine: bool, why| (!fine).then_some(why);
    let usable = can.identity.api_version >= vk::API_VERSION_1_2;
    let too_old = unless(usable, "Vulkan 1.2 or newer is needed");
    let linked = match can.library {
        None => Some("the device has no graphics pipeline libraries"),
        Some(library) => unless(
            library.fast_linking,
            "the device's links are not fast: they would stall the draw",
        ),
    };
    let dynamic = unless(
        has(Feature::VertexInputDynamicState) || has(Feature::ExtendedDynamicState),
        "the device has no extended dynamic state",
    );
    let pulled = unless(
        has(Feature::BufferDeviceAddress),
        "the device has no buffer device address",
    );
    let keeps = can.pipeline_binary.is_some() || can.identity.kind != DeviceKind::Cpu;
    let archive = unless(
        keeps,
        "a CPU driver compiles at the first draw and keeps nothing",
    );
    [
        ("exact", None),
        ("linked", linked),
        ("dynamic", dynamic),
        ("pulled", pulled),
        ("generic", None),
        ("archive", archive),
    ]
    .into_iter()
    .map(|(name, missing)| Route {
        name,
        missing: too_old.or(missing),
    })
    .collect()
}

impl Report for Found {
    fn text(&self) -> String {
        let mut text = String::new();
        for device in &self.devices {
            // Writing to a string cannot fail.
            let _ = device.write(&mut text);
        }
        text
    }
}

impl Device {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        let identity = &self.identity;
        let version = identity.api_version;
        writeln!(out, "{}: {}", self.index, identity.name)?;
        writeln!(
            out,
            "   {}, Vulkan {}.{}.{}, {} {}, vendor {:04x}, device {:04x}",
            identity.kind,
            vk::api_version_major(version),
            vk::api_version_minor(version),
            vk::api_version_patch(version),
            identity.driver_name,
            identity.driver_info,
            identity.vendor_id,
            identity.device_id
        )?;
        let mut capabilities = words(&["capability", "there", "used for"]);
        for capability in &self.capabilities {
            let there = if capability.present { "yes" } else { "no" };
            capabilities.add_row([capability.name, there, capability.used_for]);
        }
        let mut routes = words(&["route", "open", "why not"]);
        for route in &self.routes {
            let open = if route.missing.is_none() { "yes" } else { "no" };
            routes.add_row([route.name, open, route.missing.unwrap_or("")]);
        }
        writeln!(out, "\n{capabilities}\n\n{routes}\n")
    }
}
