//! What the pictures of the well-known programs show.

use standin_combiner::oracle::FragmentInputs;

/// One pixel for each texel of the harness's textures.
pub const EDGE: usize = 64;

/// The fragments of a picture's row.
pub fn row(name: &str, y: usize) -> Vec<FragmentInputs> {
    (0..EDGE).map(|x| scene(name, x, y)).collect()
}

/// What the fragments of a program's picture bring with them.
fn scene(name: &str, x: usize, y: usize) -> FragmentInputs {
    let [u, v] = [x, y].map(|i| (i as f32 + 0.5) / EDGE as f32);
    let checker = if (x / 8 + y / 8).is_multiple_of(2) {
        0.9
    } else {
        0.35
    };
    let bricks = [0.8 * checker, 0.4 * checker, 0.3, 1.0];
    let waves = 0.5 + 0.5 * (20.0 * u).sin() * (14.0 * v).cos();
    let mut inputs = FragmentInputs {
        colours: [[1.0, 1.0 - 0.6 * v, 1.0 - 0.6 * u, u], [0.2, 0.3, 0.5, 1.0]],
        fog: 1.0 - 0.8 * v,
        ..FragmentInputs::default()
    };
    inputs.textures[0] = bricks;
    inputs.textures[1] = [0.2, waves, 0.9 - 0.5 * waves, 0.3 + 0.7 * waves];
    if name == "dot3-bump-specular" {
        // A field of bumps as a normal map, a light and a half vector that turn with u.
        let [a, b] = [(24.0 * u).sin(), (24.0 * v).sin()];
        let pack = |[x, y, z]: [f32; 3]| {
            let length = (x * x + y * y + z * z).sqrt();
            [x, y, z].map(|e| 0.5 + 0.5 * e / length)
        };
        let vector = |xyz, alpha| {
            let [x, y, z] = pack(xyz);
            [x, y, z, alpha]
        };
        inputs.textures[0] = vector([0.6 * a, 0.6 * b, 1.0], 1.0);
        inputs.textures[1] = [0.5, 0.4, 0.25, 0.4];
        inputs.colours = [
            vector([1.2 * u - 0.6, 0.5 - v, 0.8], 1.0),
            vector([0.6 * u - 0.3, 0.25 - 0.5 * v, 1.0], 1.0),
        ];
    }
    if name == "two-texture-mux" {
        let distance = ((u - 0.5).powi(2) + (v - 0.5).powi(2)).sqrt();
        inputs.textures[0][3] = 1.0 - 1.6 * distance;
        inputs.textures[1][3] = if distance > 0.45 { 0.0 } else { 1.0 };
    }
    inputs
}
