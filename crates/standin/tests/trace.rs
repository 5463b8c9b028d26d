//! What a trace holds, its file, and the lines for people.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod world;

use std::time::Duration;

use proptest::prelude::*;
use standin::key::{ExactKey, FamilyKey};
use standin::sim::SimRecipe;
use standin::trace::{
    BuildResult, Event, Phase, RECORD_SIZE, Record, Subject, TraceError, TraceFile,
};
use standin::{Counter, FirstDemand, FirstDraw, Lane, Reason, Route, Settings, Status, Waiting};
use world::{MS, World};

fn traced() -> World {
    World::with(Settings {
        trace_capacity: 10_000,
        ..Settings::default()
    })
}

#[test]
fn a_stand_in_and_its_promotion_leave_their_events() {
    let mut world = traced();
    world.adopt_family(9);
    let recipe = SimRecipe::in_family(1, 9);
    world.draw(&recipe);
    world.sim.settle();
    world.draw(&recipe);
    let trace = world.runtime.trace();
    let key = recipe.key();
    let mine: Vec<_> = trace
        .events
        .iter()
        .filter(|event| match event {
            Event::Routed { key: k, .. } | Event::FirstDemand { key: k, .. } => *k == key,
            Event::Built { subject, .. }
            | Event::PhaseSpan { subject, .. }
            | Event::Adopted { subject, .. }
            | Event::Promotion { subject, .. } => *subject == Subject::Exact(key),
            _ => false,
        })
        .collect();
    let built = mine.iter().find_map(|event| match event {
        Event::Built {
            result,
            lane,
            duration,
            queue_wait,
            ..
        } => Some((*result, *lane, *duration, *queue_wait)),
        _ => None,
    });
    // The pioneer of the family is built first on the one demand worker.
    let queue = built.unwrap().3;
    assert_eq!(
        built,
        Some((BuildResult::Built, Some(Lane::Demand), 14 * MS, queue))
    );
    let phases: Vec<_> = mine
        .iter()
        .filter_map(|event| match event {
            Event::PhaseSpan {
                phase, duration, ..
            } => Some((*phase, *duration)),
            _ => None,
        })
        .collect();
    assert_eq!(phases, [(Phase::SpirV, 4 * MS), (Phase::Pipeline, 10 * MS)]);
    assert!(mine.iter().any(|event| matches!(
        event,
        Event::Routed {
            route: Route::StandIn,
            reason: Reason::PromotionSubmitted,
            draw: 0,
            ..
        }
    )));
    assert!(mine.iter().any(|event| matches!(
        event,
        Event::FirstDemand {
            class: FirstDemand::Ready,
            ..
        }
    )));
    assert!(
        mine.iter()
            .any(|event| matches!(event, Event::Adopted { .. }))
    );
    assert!(mine.iter().any(|event| matches!(
        event,
        Event::Promotion {
            status: Status::Ready,
            attempts: 1,
            ..
        }
    )));
    assert!(
        trace
            .names
            .contains(&(Subject::Exact(key), "recipe 1".into()))
    );
}

#[test]
fn a_wait_leaves_what_it_waited_for_and_each_of_its_times() {
    let mut world = traced();
    let recipe = SimRecipe::alone(1);
    world.frame_with(FirstDraw::Skip, &[&recipe]);
    world.sim.advance(MS);
    world.draw(&recipe);
    let trace = world.runtime.trace();
    let waits: Vec<_> = trace
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Waited {
                frame,
                waiting,
                reason,
                caller_wait,
                build,
                ..
            } => Some((*frame, *waiting, *reason, *caller_wait, *build)),
            _ => None,
        })
        .collect();
    let expected = (
        2,
        Waiting::ForRunning,
        Reason::NoFamilyAdmits,
        13 * MS,
        14 * MS,
    );
    assert_eq!(waits, [expected]);
}

#[test]
fn frames_leave_their_counters() {
    let mut world = traced();
    world.draw(&SimRecipe::alone(1));
    world.sim.advance(MS);
    world.frame(&[]);
    let trace = world.runtime.trace();
    let counters: Vec<_> = trace
        .events
        .iter()
        .filter_map(|event| match event {
            Event::FrameCounter {
                frame: 1,
                counter,
                value,
            } => Some((*counter, *value)),
            _ => None,
        })
        .collect();
    assert!(counters.contains(&(Counter::Draws, 1)));
    assert!(counters.contains(&(Counter::WaitTime, 14_000_000)));
    assert!(trace.events.contains(&Event::FrameEnded {
        frame: 1,
        at: 15 * MS,
        duration: 15 * MS,
    }));
}

#[test]
fn the_buffer_is_bounded_and_counts_what_it_drops() {
    let mut world = World::with(Settings {
        trace_capacity: 16,
        ..Settings::default()
    });
    for number in 0..50 {
        world.draw(&SimRecipe::alone(number));
    }
    let trace = world.runtime.trace();
    assert_eq!(trace.events.len(), 16);
    assert!(trace.dropped > 100);
    assert!(trace.names.len() <= 16);
    assert!(matches!(
        trace.events.last(),
        Some(
            Event::Routed { frame: 50, .. }
                | Event::FirstDemand { frame: 50, .. }
                | Event::Waited { frame: 50, .. }
        )
    ));
}

#[test]
fn a_line_of_totals_every_300_frames() {
    let mut world = World::new();
    world.adopt_family(9);
    let recipes: Vec<_> = (1..=3).map(|n| SimRecipe::in_family(n, 9)).collect();
    for _ in 0..300 {
        world.frame(&recipes.iter().collect::<Vec<_>>());
        world.sim.advance(MS);
    }
    let alone = SimRecipe::alone(7);
    world.draw(&alone);
    for _ in 0..300 {
        world.frame(&[]);
    }
    let notices = world.notices();
    assert_eq!(notices.len(), 2, "{notices:?}");
    // The three pipelines and the family's pioneer take 14 ms each on the one demand worker, after
    // its stand-in: until then each draw of them is one on a stand-in.
    assert!(
        notices[0].starts_with("pipelines up to frame 300: "),
        "{}",
        notices[0]
    );
    assert!(notices[0].contains("1 base builds"), "{}", notices[0]);
    assert!(notices[0].contains("4 background builds"), "{}", notices[0]);
    assert!(
        notices[0].contains("0 draws waited 0.0 ms (1 stand-in not built)"),
        "{}",
        notices[0]
    );
    assert!(
        notices[1].contains("1 draws waited 14.0 ms (1 no family admits it)"),
        "{}",
        notices[1]
    );
}

#[test]
fn long_frames_are_told_of() {
    let mut world = World::with(Settings {
        long_frame: 10 * MS,
        ..Settings::default()
    });
    world.draw(&SimRecipe::alone(1));
    world.frame(&[]);
    assert_eq!(
        world.notices(),
        [
            "long frame 1: 14.0 ms; 1 draws, 0 on stand-ins, 0 linked, 0 loaded 0.0 ms, \
          1 waited 14.0 ms, adoption 0.0 ms"
        ]
    );
}

/// One event of each kind, with the record that docs/trace-format.md says it has.
#[test]
fn records_are_as_documented() {
    let key = ExactKey::from_u128(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
    let event = Event::Waited {
        frame: 0x11,
        draw: 0x22,
        stream: 0x33,
        key,
        waiting: Waiting::ForRunning,
        reason: Reason::StandInNotBuilt,
        at: Duration::from_nanos(0x44),
        caller_wait: Duration::from_nanos(0x55),
        queue_wait: Duration::from_nanos(0x66),
        build: Duration::from_nanos(0x77),
    };
    let mut expected: Record = [0; RECORD_SIZE];
    expected[0] = 5;
    expected[1] = 2;
    expected[2] = Reason::StandInNotBuilt as u8;
    expected[4] = 0x33;
    expected[8] = 0x44;
    expected[16] = 0x55;
    expected[24] = 0x11;
    expected[32] = 0x22;
    expected[40] = 0x66;
    expected[48] = 0x77;
    for (at, byte) in (56..72).zip((1..=16).rev()) {
        expected[at] = byte;
    }
    assert_eq!(event.encode(), expected);
    let mut file = Vec::new();
    let trace = TraceFile {
        events: vec![event],
        names: vec![(Subject::Family(FamilyKey::from_u128(5)), "ab".into())],
        dropped: 3,
    };
    trace.write(&mut file).unwrap();
    assert_eq!(&file[..8], b"STANDTRC");
    assert_eq!(file[8..16], [1, 0, 0, 0, 72, 0, 0, 0]);
    assert_eq!((file[16], file[24], file[32]), (1, 1, 3));
    assert_eq!(file[40..112], expected);
    assert_eq!(file[112..120], [1, 0, 0, 0, 2, 0, 0, 0]);
    assert_eq!((file[120], &file[136..]), (5, &b"ab"[..]));
}

/// The documentation's tables of numbers are those of the code.
#[test]
fn the_documentation_names_every_number() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/trace-format.md"
    ))
    .unwrap();
    let mut rows = 0;
    let mut check = |section: &str, names: &[&str]| {
        let start = text.find(&format!("### {section}\n")).expect(section);
        let body = text[start..].split("\n#").next().unwrap();
        for (number, name) in names.iter().enumerate() {
            let row = format!("| {number} | {name} |");
            assert!(body.contains(&row), "{section}: no row {row}");
            rows += 1;
        }
        let listed = body
            .lines()
            .filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit())
            .count();
        assert_eq!(
            listed,
            names.len(),
            "{section} lists a number that the code does not know"
        );
    };
    macro_rules! check {
        ($section:literal, $name:ty) => {
            check(
                $section,
                &<$name>::ALL.iter().map(|v| v.name()).collect::<Vec<_>>(),
            )
        };
    }
    check!("Routes", Route);
    check!("Reasons", Reason);
    check!("Waits", Waiting);
    check!("First demands", FirstDemand);
    check!("Lanes", Lane);
    check!("Phases", Phase);
    check!("Build results", BuildResult);
    check!("Counters", Counter);
    assert!(rows > 70);
}

#[test]
fn damaged_files_are_refused_by_the_place_of_the_damage() {
    let mut world = traced();
    world.draw(&SimRecipe::alone(1));
    let trace = world.runtime.trace();
    assert!(!trace.events.is_empty() && !trace.names.is_empty());
    let mut file = Vec::new();
    trace.write(&mut file).unwrap();
    assert_eq!(TraceFile::read(&file[..]).unwrap(), trace);
    for length in 0..file.len() {
        assert!(
            TraceFile::read(&file[..length]).is_err(),
            "cut to {length} bytes"
        );
    }
    let mut huge = file.clone();
    huge[16..24].fill(0xff);
    assert!(matches!(
        TraceFile::read(&huge[..]),
        Err(TraceError::CutShort { .. } | TraceError::Damaged { .. })
    ));
    let mut version = file.clone();
    version[8] = 2;
    assert!(matches!(
        TraceFile::read(&version[..]),
        Err(TraceError::Version { found: 2 })
    ));
    let mut kind = file;
    kind[40 + RECORD_SIZE] = 99;
    assert!(matches!(
        TraceFile::read(&kind[..]),
        Err(TraceError::Damaged { record: 1 })
    ));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400), prefixed: bool) {
        let mut file = Vec::new();
        if prefixed {
            file.extend_from_slice(b"STANDTRC\x01\0\0\0\x48\0\0\0");
        }
        file.extend_from_slice(&bytes);
        let _ = TraceFile::read(&file[..]);
    }

    #[test]
    fn every_record_that_decodes_encodes_to_what_decodes_the_same(bytes: [u8; 32], rest: [u8; 32], last: [u8; 8], kind in 0_u8..13, number in 0_u8..40) {
        let mut record: Record = [0; RECORD_SIZE];
        record[..32].copy_from_slice(&bytes);
        record[32..64].copy_from_slice(&rest);
        record[64..].copy_from_slice(&last);
        record[0] = kind;
        record[1] = number;
        record[2] %= 22;
        record[3] %= 2;
        if let Some(event) = Event::decode(&record) {
            prop_assert_eq!(Event::decode(&event.encode()), Some(event));
        }
    }
}
