//! The hypervisor in on-chip memory, on the board of `soc-ocm`.

use tactus::artifacts::HYPERVISOR_ONCHIP;
use tactus::run::board::Options;
use tactus::run::machine::Platform;
use tactus::run::session::Verdict;
use tactus_board::profile::Profile;

use crate::harness::{On, assert_verdict, boot_text, once};

/// A guest that makes, changes and deletes real-time vCPUs on both harts, so that all parts of the hypervisor run
/// there.
const SYSTEM: &str = include_str!("../../systems/rt.toml");

#[test]
fn a_system_runs_with_the_hypervisor_on_the_chip() {
    let platform = "platform = \"qemu-virt\"";
    assert!(SYSTEM.contains(platform));
    let system = SYSTEM.replace(
        platform,
        "platform = \"soc-ocm\"\nhypervisor_memory = \"onchip\"",
    );
    let mut boot = boot_text(On::Board, &system);
    assert!(boot.image.hypervisor.ends_with(HYPERVISOR_ONCHIP));
    let profile = Profile::named("soc-ocm").expect("it comes with the board");
    boot.plan.launch.platform = Platform::Board(Box::new(Options::new(profile)));
    assert_verdict(&once(&boot), Verdict::Good);
}
