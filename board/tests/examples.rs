//! Runs the examples of the library, each of which checks its results.
#![expect(
    clippy::duplicate_mod,
    reason = "each example brings the assembler along, as a program of its own does"
)]

#[path = "../examples/attach_device.rs"]
mod attach_device;
#[path = "../examples/fault.rs"]
mod fault;
#[path = "../examples/run_until.rs"]
mod run_until;

#[test]
fn a_device_of_ones_own() {
    attach_device::main().expect("the example");
}

#[test]
fn until_a_condition() {
    run_until::main().expect("the example");
}

#[test]
fn faults_on_a_plan() {
    fault::main().expect("the example");
}
