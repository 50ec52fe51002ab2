//! Anything as a plan file, made for a target of each kind: phases or an error, never a panic.
#![no_main]

use std::sync::Arc;

use fourcorners_drive::Geometry;
use fourcorners_lab::review::{Medium, PlanFile, Protocol, Scope, plans};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(plan) = PlanFile::parse("plan.toml", text) else { return };
    assert!(!plan.name().is_empty() && plan.depth() > 0);
    let plan = [Protocol::Plan(Arc::new(plan))];
    for medium in [Medium::Ssd, Medium::HardDisk, Medium::Device, Medium::File] {
        let geometry = Geometry { sectors: 1 << 26, logical_block_bytes: 512, queue_depth: 32 };
        let scope =
            Scope { geometry, spare_percent: 7.0, quick: false, seed: 1, medium, most_ios: None };
        if let Ok(phases) = plans(&plan, &scope) {
            assert!(phases.iter().all(|phases| !phases.is_empty()));
        }
    }
});
