//! BareOS of the experiment `mpsoc`: a best-effort vCPU that creates real-time vCPUs by hypercall and then waits until
//! they are done. `measure=` in the boot arguments selects their work and the measurement.
#![no_std]
#![no_main]

mod admission;
mod app;
mod decision;
mod figure6;
mod jitter;
mod overload;

use core::time::Duration;

use tactus_guest::{devicetree, power, println, record, start, stopwatch, time};

tactus_guest::entry!(main);

/// Time for which it sleeps at the start.
const QUIET: Duration = Duration::from_millis(60);

fn main() {
    // The other VMs start meanwhile, and power off if they have no work.
    stopwatch::wait_until(time::now() + time::ticks(QUIET));
    println!(
        "bench-mpsoc, boot arguments \"{}\"",
        devicetree::arguments()
    );
    match devicetree::argument("measure") {
        Some("jitter") => jitter::measure(),
        Some("decision") => decision::measure(),
        Some("admission") => admission::measure(),
        Some("overload") => overload::measure(),
        Some("figure6") => figure6::run(),
        _ => refuse("the boot argument `measure` names nothing that there is to measure"),
    }
    record::pass(start::program());
}

/// Ends a run whose configuration permits no measurement.
fn refuse(reason: impl core::fmt::Display) -> ! {
    record::fail(start::program(), reason);
    power::off_failed()
}
