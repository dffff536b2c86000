//! A device whose interrupt line stays up: its VM is named, and it interrupts no more often than the protocol grants.

use tactus::run::session::Outcome;

use crate::harness::{On, explain, in_weak_memory, on_board, root, run_text};

/// Runs `systems/interference.toml` with this noise.
fn noise(on: On, noise: &str) -> Outcome {
    let system = std::fs::read_to_string(root().join("systems/interference.toml"));
    let system = system.expect("the system is there");
    let changed = system
        .replace("noise=ring", &format!("noise={noise}"))
        .replace("jobs=200 listen=masked", "jobs=50 listen=none");
    assert_ne!(changed, system);
    run_text(on, &changed, Some("victim"))
}

/// The line of the clock's alarm stays up, however often its interrupt is completed, by calls or by the virtual PLIC.
fn a_line_that_stays_up_is_named(on: On) {
    for how in ["end", "complete"] {
        let outcome = noise(on, how);
        let facts = outcome.board.as_ref().expect("it is the board");
        let [found] = &facts.storms[..] else {
            panic!("one storm, not {:?}\n{}", facts.storms, explain(&outcome));
        };
        assert_eq!((found.vm.as_str(), found.device.as_str()), ("noise", "rtc"));
        assert_eq!(found.storm.source, 11);
        // The victim computes for 150 us in each of 50 periods of 1 ms, beside lower guests.
        let milliseconds = found.storm.length().as_seconds() * 1e3;
        assert!(milliseconds > 25.0, "{milliseconds}\n{}", explain(&outcome));
        let json = tactus::report::report_json(&outcome, "storm");
        let storm = &json["board"]["storms"][0];
        assert_eq!(
            (storm["vm"].as_str(), &storm["source"]),
            (Some("noise"), &11.into())
        );
        assert_eq!(storm["interrupts"], found.storm.services);
        assert!(explain(&outcome).contains("noise: the interrupt of rtc (source 11) was up for"));
    }
}

fn no_storm_is_seen_without_one(on: On) {
    for how in ["none", "ring", "toggle"] {
        let outcome = noise(on, how);
        let facts = outcome.board.as_ref().expect("it is the board");
        assert_eq!(facts.storms, [], "{how}");
    }
}

on_board!(a_line_that_stays_up_is_named, no_storm_is_seen_without_one);
in_weak_memory!(; a_line_that_stays_up_is_named);
