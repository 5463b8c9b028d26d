//! `standin pull` and `standin combiner`: files in, files and text out.

use crate::standin::Folder;
use std::path::Path;

#[test]
fn a_vertex_shader_is_pulled_into_a_file() {
    let folder = Folder::new();
    let shader = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../standin-pull/testdata/spv/sascha-willems/glsl__triangle__triangle.vert.spv");
    std::fs::copy(shader, folder.path().join("in.spv")).unwrap();
    let run = folder.run(["pull", "in.spv", "-o", "out.spv", "--json"]);
    // The triangle has a position and a colour.
    assert_eq!(run.status(0).json()["inputs"].as_array().unwrap().len(), 2);
    let pulled = std::fs::read(folder.path().join("out.spv")).unwrap();
    assert_eq!(pulled[..4], 0x0723_0203_u32.to_le_bytes());
}

#[test]
fn what_is_no_shader_and_no_state_is_status_2() {
    let folder = Folder::new();
    folder.file("bad.spv", b"not SPIR-V");
    folder.file("bad.state", b"NO_SUCH_WORD 1\n");
    for line in [
        &["pull", "bad.spv", "-o", "out.spv"][..],
        &["pull", "missing.spv", "-o", "out.spv"],
        &["combiner", "show", "bad.state"],
        &["combiner", "eval", "missing.state"],
    ] {
        folder.run(line).status(2);
    }
    assert!(!folder.path().join("out.spv").exists());
}
