//! `standin doctor`.

use crate::standin::{Folder, device};

#[test]
fn doctor_lists_the_device_and_its_routes() {
    let Some(device) = device() else { return };
    let run = Folder::new().run(["doctor", "--json"]).status(0);
    let json = run.json();
    let found = &json["devices"][0];
    assert_eq!(found["index"], 0);
    let routes = found["routes"].as_array().unwrap();
    let names: Vec<_> = routes
        .iter()
        .map(|route| route["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["exact", "linked", "dynamic", "pulled", "generic", "archive"]
    );
    // A route is open (null) or says why it is not.
    for route in routes {
        assert!(
            route["missing"].is_null() || route["missing"].is_string(),
            "{route}"
        );
    }
    // Mesa's drivers by their Vulkan names; the CPU driver keeps nothing between processes.
    let (name, archive_is_open) = match device {
        "lavapipe" => ("llvmpipe", false),
        _ => ("RADV", true),
    };
    assert!(found["identity"]["name"].as_str().unwrap().contains(name));
    assert_eq!(routes[5]["missing"].is_null(), archive_is_open);
}
