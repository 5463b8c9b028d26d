//! What vertex pulling costs and whether it is exact on the best device here.
//!
//! `pull_cost [--vertices N] [--rounds N] [--short] [--no-prove] [--json FILE]` prints, for 1 to 16 attributes, the time
//! of a draw whose vertices come by fixed function, by dynamic vertex input, pulled, and at the floor (pulled with the
//! layout compiled in), then the verdict on every vertex format of the device.

use standin_vulkan::prove::{
    ATTRIBUTE_COUNTS, Extent, FetchCost, FetchProof, FetchWay, Verdict, measure_fetch, prove_fetch,
};
use standin_vulkan::scratch::Scratch;
use standin_vulkan::{Device, DeviceChoice, DeviceSettings, Instance, InstanceSettings};
use std::error::Error;

#[derive(serde::Serialize)]
struct Output {
    device: String,
    driver: String,
    costs: Vec<FetchCost>,
    proof: Option<FetchProof>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut vertices = 3_000_000;
    let mut rounds = 9;
    let mut extent = Some(Extent::Full);
    let mut json = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--vertices" => vertices = value()?.parse()?,
            "--rounds" => rounds = value()?.parse()?,
            "--json" => json = Some(value()?),
            "--short" => extent = Some(Extent::Short),
            "--no-prove" => extent = None,
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    let instance = Instance::new(&InstanceSettings::default())?;
    let physical = instance.select(&DeviceChoice::BestOrCpu)?;
    let device = Device::new(&physical, &DeviceSettings::default())?;
    let identity = &device.capabilities().identity;
    println!(
        "{}, {} {}",
        identity.name, identity.driver_name, identity.driver_info
    );
    let scratch = Scratch::new(&device)?;
    println!(
        "{vertices} vertices a draw, median of {rounds}, milliseconds; ratios to fixed function and to the floor"
    );
    println!("attributes     fixed   dynamic    pulled     floor   p/fixed   p/floor");
    let mut costs = Vec::new();
    for attributes in ATTRIBUTE_COUNTS {
        let cost = measure_fetch(&scratch, attributes, vertices, rounds)?;
        let of = |way| cost.of(way).unwrap_or(f64::NAN) / 1e6;
        let [fixed, dynamic, pulled, floor] = [
            FetchWay::Fixed,
            FetchWay::Dynamic,
            FetchWay::Pulled,
            FetchWay::Floor,
        ]
        .map(of);
        let (by_fixed, by_floor) = (pulled / fixed, pulled / floor);
        println!(
            "{attributes:10} {fixed:9.3} {dynamic:9.3} {pulled:9.3} {floor:9.3} {by_fixed:9.3} {by_floor:9.3}"
        );
        costs.push(cost);
    }
    let proof = extent
        .map(|extent| prove_fetch(&scratch, extent))
        .transpose()?;
    if let Some(proof) = &proof {
        println!(
            "{} of {} formats proven in {:?}",
            proof.proven(),
            proof.formats.len(),
            proof.duration
        );
        for format in &proof.formats {
            if !matches!(format.verdict, Verdict::Proven { .. }) {
                println!("declined: {} {:?}", format.name, format.verdict);
            }
        }
    }
    if let Some(path) = json {
        let device = identity.name.clone();
        let driver = format!("{} {}", identity.driver_name, identity.driver_info);
        std::fs::write(
            path,
            serde_json::to_string_pretty(&Output {
                device,
                driver,
                costs,
                proof,
            })?,
        )?;
    }
    Ok(())
}
