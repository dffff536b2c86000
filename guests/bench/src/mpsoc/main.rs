//! BareOS of the experiment `mpsoc`: a best-effort vCPU that makes real-time vCPUs by hypercall and then waits until
//! they are done. What they do, and what is found out by it, is told by `measure=` in the boot arguments.
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

/// How long it sleeps before it begins.
const QUIET: Duration = Duration::from_millis(60);

fn main() {
    // The other VMs start meanwhile, and go off if they have nothing to do.
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

/// Ends a run that cannot measure.
fn refuse(reason: impl core::fmt::Display) -> ! {
    record::fail(start::program(), reason);
    power::off_failed()
}
