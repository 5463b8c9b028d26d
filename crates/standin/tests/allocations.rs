//! Selecting what is adopted allocates nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod world;

use standin::sim::SimRecipe;
use standin::{Epochs, Route, Settings};
use world::World;

/// Allocations of `select` calls only: the stream is made outside.
fn allocations(world: &mut World, recipes: &[SimRecipe], epochs_change: bool, route: Route) -> u64 {
    let ids: Vec<_> = recipes.iter().map(|r| world.register(r)).collect();
    let frame = world.runtime.begin_frame();
    let mut stream = frame.stream(0);
    for (number, id) in (1..).zip(&ids) {
        let epochs = Epochs {
            shader: number,
            ..Epochs::default()
        };
        assert_eq!(stream.select(epochs, || *id).route(), route);
    }
    let mut epoch = 1000;
    allocation_counter::measure(|| {
        for round in 0..100 {
            for id in &ids {
                epoch += u64::from(epochs_change || round == 0);
                let epochs = Epochs {
                    shader: epoch,
                    ..Epochs::default()
                };
                std::hint::black_box(stream.select(epochs, || *id));
            }
        }
    })
    .count_total
}

#[test]
fn unchanged_and_exact_hits_allocate_nothing() {
    for trace_capacity in [0, 1000] {
        let recipes: Vec<_> = (0..64).map(SimRecipe::alone).collect();
        let mut world = World::with(Settings {
            trace_capacity,
            ..Settings::default()
        });
        world.frame(&recipes.iter().collect::<Vec<_>>());
        world.frame(&[]);
        assert_eq!(allocations(&mut world, &recipes, true, Route::Exact), 0);
        assert_eq!(
            allocations(&mut world, &recipes[..1], false, Route::Exact),
            0
        );
    }
}

#[test]
fn stable_stand_ins_allocate_nothing() {
    for trace_capacity in [0, 1000] {
        let mut world = World::with(Settings {
            trace_capacity,
            ..Settings::default()
        });
        world.adopt_family(9);
        let recipes: Vec<_> = (0..64).map(|n| SimRecipe::in_family(n, 9)).collect();
        world.frame(&recipes.iter().collect::<Vec<_>>());
        // Pending now; the simulation's clock stands still.
        assert_eq!(allocations(&mut world, &recipes, true, Route::StandIn), 0);
        assert_eq!(
            allocations(&mut world, &recipes[..1], false, Route::StandIn),
            0
        );
    }
}

#[test]
fn a_probe_for_a_missing_pipeline_allocates_nothing() {
    let mut world = World::new();
    let id = world.register(&SimRecipe::in_family(1, 9));
    let missing = SimRecipe::alone(2).key();
    let counted = allocation_counter::measure(|| {
        for _ in 0..100 {
            assert!(world.runtime.find(missing).is_none());
            assert!(!world.runtime.status(id).unwrap().covered);
        }
    });
    assert_eq!(counted.count_total, 0);
}
