//! What a best-effort guest learns from the counters of the hart that it shares with a real-time guest.

use crate::harness::{
    On, assert_verdict, explain, figure, in_weak_memory, on_both, root, run_text,
};

/// Counters other than `time`, each read from both privilege levels.
const ATTEMPTS: f64 = 2.0 * 31.0;

/// No read of a counter has more than one outcome. With `counters = true` some have, so that the attack can succeed.
fn counters_tell_nothing(on: On) {
    let file = root().join("systems/hostile-counters.toml");
    let closed = std::fs::read_to_string(file).expect("the system is there");
    let image = "image = \"@hostile\"";
    let open = closed.replace(image, &format!("{image}\ncounters = true"));
    assert_ne!(closed, open);
    let outcome = run_text(on, &closed, None);
    assert_verdict(&outcome, tactus::run::session::Verdict::Good);
    let of = |name| figure(&outcome, "hostile", name);
    assert_eq!(of("hostile_trapped"), ATTEMPTS, "\n{}", explain(&outcome));
    assert_eq!(of("hostile_leaked_bits"), 0.0, "\n{}", explain(&outcome));
    let outcome = run_text(on, &open, None);
    let leaked = figure(&outcome, "hostile", "hostile_leaked_bits");
    assert!(leaked >= 1.0, "{leaked} bits\n{}", explain(&outcome));
}

on_both!(counters_tell_nothing);
in_weak_memory!(; counters_tell_nothing);
