//! Legal inputs that no compiler of the corpora emits: hand-made modules, rewritten and reported as they should be.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests fail by panicking.

use std::path::Path;

use standin_pull::module::Module;
use standin_pull::{
    BlockPlace, DataPath, Declined, Format, LaterStages, Options, Pulled, Rewritten, rewrite,
    words_from_bytes,
};

/// Read from the capture of piglit's static layouts.
const FORMATS_OF_REAL_LAYOUTS: [u32; 71] = [
    9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 37, 38, 39, 40, 41, 42,
    44, 58, 59, 64, 65, 66, 67, 70, 71, 72, 73, 74, 75, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87,
    88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108,
    109, 122,
];

fn module(name: &str) -> Vec<u32> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/spv/handmade")
        .join(name);
    words_from_bytes(&std::fs::read(path.with_extension("spv")).unwrap()).unwrap()
}

fn options() -> Options {
    Options {
        block: BlockPlace::Uniform { set: 7, binding: 0 },
        ..Options::default()
    }
}

fn pulled(name: &str) -> Pulled {
    match rewrite(&module(name), &options()).unwrap() {
        Rewritten::Pulled(pulled) => pulled,
        Rewritten::NotNeeded => panic!("{name} has inputs"),
    }
}

/// Location, locations, component, components of each input.
fn inputs(pulled: &Pulled) -> Vec<(u32, Option<u32>, u32, u32)> {
    pulled
        .inputs
        .iter()
        .map(|i| (i.location, i.locations, i.component, i.components))
        .collect()
}

/// How many variables of storage class Input are decorated with a location.
fn located(spirv: &[u32]) -> usize {
    let module = Module::parse(spirv).unwrap();
    let inputs: Vec<u32> = module
        .instructions
        .iter()
        .filter(|i| i.opcode == 59 && i.operand(2) == 1)
        .map(|i| i.operand(1))
        .collect();
    module
        .instructions
        .iter()
        .filter(|i| i.opcode == 71 && i.operand(1) == 30 && inputs.contains(&i.operand(0)))
        .count()
}

#[test]
fn v11_members_of_an_input_block_have_locations_of_their_own() {
    let pulled = pulled("input_block");
    let expected = [(2, Some(1), 0, 4), (4, Some(1), 0, 2), (6, Some(4), 0, 4)];
    assert_eq!(inputs(&pulled), expected);
    assert_eq!(pulled.shape.attributes, 10);
    assert_eq!(located(&pulled.spirv), 0);
}

#[test]
fn pointers_to_inputs_go_through_functions_and_copies() {
    for name in ["pointer_parameter", "copies"] {
        assert_eq!(located(&pulled(name).spirv), 0, "{name}");
    }
}

#[test]
fn several_inputs_share_a_location() {
    let pulled = pulled("components");
    assert_eq!(
        inputs(&pulled),
        [(1, Some(1), 0, 2), (1, Some(1), 2, 1), (1, Some(1), 3, 1)]
    );
}

#[test]
fn locations_come_from_decoration_groups() {
    let pulled = pulled("groups");
    assert_eq!(inputs(&pulled), [(2, Some(1), 0, 4), (4, Some(1), 0, 4)]);
}

#[test]
fn v13_three_components_of_64_bits_take_two_locations() {
    let pulled = pulled("wide");
    assert_eq!(inputs(&pulled), [(0, Some(2), 0, 3), (2, Some(1), 0, 1)]);
}

#[test]
fn an_array_sized_by_a_specialisation_constant_takes_all_that_is_left() {
    let pulled = pulled("specialised_array");
    assert_eq!(inputs(&pulled), [(1, None, 0, 4)]);
    assert_eq!(pulled.shape.attributes, 32);
}

#[test]
fn types_of_16_bits_need_their_own_capabilities_in_private_variables() {
    let pulled = pulled("short");
    for capability in ["Float16", "Int16"] {
        assert!(
            pulled
                .added_capabilities
                .iter()
                .any(|added| added == capability),
            "{capability}"
        );
    }
}

#[test]
fn of_several_entry_points_the_one_asked_for_is_left() {
    let pulled = pulled("two_stages");
    let entries = Module::parse(&pulled.spirv)
        .unwrap()
        .instructions
        .iter()
        .filter(|i| i.opcode == 15)
        .count();
    assert_eq!(entries, 1);

    let both = module("two_vertex_entries");
    let names = vec!["main".to_owned(), "other".to_owned()];
    assert_eq!(
        rewrite(&both, &options()),
        Err(Declined::AmbiguousEntry { names })
    );
    let other = Options {
        entry: Some("other".to_owned()),
        ..options()
    };
    let Ok(Rewritten::Pulled(pulled)) = rewrite(&both, &other) else {
        panic!("not pulled")
    };
    assert_eq!(inputs(&pulled), [(5, Some(1), 0, 4)]);
    let none = Options {
        entry: Some("nobody".to_owned()),
        ..options()
    };
    assert_eq!(
        rewrite(&both, &none),
        Err(Declined::NoEntry {
            name: Some("nobody".to_owned())
        })
    );
}

#[test]
fn places_that_the_shader_uses_are_declined() {
    let both = Options {
        block: BlockPlace::Uniform { set: 1, binding: 0 },
        data: DataPath::StorageBuffers { set: 1, binding: 0 },
        ..Options::default()
    };
    let reason = rewrite(&module("copies"), &both).unwrap_err().reason();
    assert_eq!(reason, "place-taken");
}

#[test]
fn stages_between_are_declined() {
    for (later_stages, name) in [
        (LaterStages::Geometry, "geometry"),
        (LaterStages::Tessellation, "tessellation"),
    ] {
        let options = Options {
            later_stages,
            ..options()
        };
        assert_eq!(
            rewrite(&module("copies"), &options),
            Err(Declined::LaterStage(name))
        );
    }
}

#[test]
fn f9_every_format_of_real_layouts_is_in_the_table() {
    // The VkFormat numbers in the vertex input states of a piglit run on zink.
    for format in FORMATS_OF_REAL_LAYOUTS {
        assert!(Format::from_vk(format).is_some(), "VkFormat {format}");
    }
}

#[test]
fn f3_f6_packed_formats_are_known_and_srgb_is_not() {
    for (number, name) in [
        (64, "A2B10G10R10_UNORM_PACK32"),
        (59, "A2R10G10B10_SNORM_PACK32"),
        (122, "B10G11R11_UFLOAT_PACK32"),
    ] {
        assert_eq!(Format::from_vk(number).unwrap().name(), name);
    }
    assert_eq!(Format::from_vk(43), None);
}
