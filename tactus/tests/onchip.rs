//! The hypervisor in on-chip memory, on the board of `soc-ocm`.

use object::{Object as _, ObjectSymbol as _};
use tactus::artifacts::{Artifacts, HYPERVISOR_ONCHIP};
use tactus::run::board::Options;
use tactus::run::machine::Platform;
use tactus::run::session::{Outcome, Verdict};
use tactus_abi::map::{PAGE_SIZE, RAW_IMAGE_BASE};
use tactus_board::profile::Profile;

use crate::harness::{On, assert_verdict, boot_text, explain, figure, once, root, run};

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

/// The text of a system on the board of `soc-ocm`, with the hypervisor on the chip, and of each VM's memory so much.
fn on_chip(name: &str, parts: &[(&str, u64)]) -> String {
    let file = root().join(format!("systems/{name}.toml"));
    let text = std::fs::read_to_string(file).expect("the system is there");
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("cache_colours"));
    let mut text: String = lines.map(|line| format!("{line}\n")).collect();
    let platform = "platform = \"qemu-virt\"";
    assert!(text.contains(platform));
    text = text.replace(
        platform,
        "platform = \"soc-ocm\"\nhypervisor_memory = \"onchip\"",
    );
    for (vm, bytes) in parts {
        let name = format!("[[vm]]\nname = \"{vm}\"\n");
        assert!(text.contains(&name), "{vm}");
        text = text.replace(
            &name,
            &format!("{name}onchip_memory = \"{}KiB\"\n", bytes >> 10),
        );
    }
    text
}

fn run_on_chip(name: &str, parts: &[(&str, u64)]) -> Outcome {
    let mut boot = boot_text(On::Board, &on_chip(name, parts));
    assert!(boot.image.hypervisor.ends_with(HYPERVISOR_ONCHIP));
    let profile = Profile::named("soc-ocm").expect("it comes with the board");
    boot.plan.launch.platform = Platform::Board(Box::new(Options::new(profile)));
    once(&boot)
}

/// Bytes from where guests' images begin to the second page of the buffer over which the one of `@channel-selftest`
/// sends and receives.
fn to_the_border() -> u64 {
    let file = Artifacts::Workspace.file("channel-selftest");
    let file = std::fs::read(file.expect("it is built")).expect("it can be read");
    let elf = object::File::parse(&*file).expect("an ELF file");
    let mut symbols = elf.symbols();
    let pages = symbols.find(|symbol| symbol.name().is_ok_and(|name| name.contains("5PAGES")));
    let pages = pages.expect("it has such a buffer");
    assert_eq!(
        (pages.size(), pages.address() % PAGE_SIZE),
        (2 * PAGE_SIZE, 0)
    );
    pages.address() + PAGE_SIZE - RAW_IMAGE_BASE
}

/// Guests in Rust and in C, each with text on the chip, pass what they pass in main memory; among it messages from and
/// into a buffer of which half is on the chip.
#[test]
fn messages_cross_the_border_of_a_part() {
    let whole = run(On::Board, "systems/channel.toml", None);
    let border = to_the_border();
    for parts in [
        [("rust", border), ("freertos", 16 << 10)],
        [("rust", 4 << 10), ("freertos", 4 << 10)],
    ] {
        let outcome = run_on_chip("channel", &parts);
        for (vm, before) in outcome.journal.vms.iter().zip(&whole.journal.vms) {
            assert_eq!(vm.passed, before.passed, "\n{}", explain(&outcome));
            assert_eq!(vm.faults, 0, "\n{}", explain(&outcome));
        }
        assert_verdict(&outcome, Verdict::Good);
    }
}

/// Texts, status and call blocks of guests of whose memory a part is on the chip.
#[test]
fn calls_find_what_is_on_the_chip() {
    for (name, parts) in [
        ("selftest", [("selftest", 36 << 10)]),
        ("rt", [("rt", 20 << 10)]),
    ] {
        let outcome = run_on_chip(name, &parts);
        assert_verdict(&outcome, Verdict::Good);
    }
}

/// Two VMs write all of their memory, whose parts are side by side on the chip. One restarts: it finds its memory clear
/// and its image loaded again, and the other one finds nothing changed.
#[test]
fn parts_are_apart_and_cleared() {
    let outcome = run_on_chip("memory", &[("restarts", 64 << 10), ("stays", 44 << 10)]);
    assert_verdict(&outcome, Verdict::Good);
    assert_eq!(figure(&outcome, "restarts", "memory_lives"), 4.0);
    assert!(figure(&outcome, "stays", "memory_looks") > 1.0);
    let restarts = outcome.journal.vm("restarts").expect("the system has it");
    assert_eq!(restarts.restarts, 3, "{}", explain(&outcome));
}

/// A hostile guest with a part on the chip accesses every address that is not its own, that of the on-chip memory among
/// them: each access ends one of its lives, and harms no other VM.
#[test]
fn a_hostile_guest_reaches_no_more_than_its_part() {
    let outcome = run_on_chip("hostile-touch", &[("hostile", 64 << 10)]);
    assert_verdict(&outcome, Verdict::Good);
    let hostile = outcome.journal.vm("hostile").expect("the system has it");
    let steps = figure(&outcome, "hostile", "hostile_steps");
    let through = figure(&outcome, "hostile", "hostile_through");
    assert!(hostile.faults >= 1_000, "{}", explain(&outcome));
    assert_eq!(
        steps - through,
        hostile.faults as f64,
        "\n{}",
        explain(&outcome)
    );
    assert_eq!(hostile.restarts, hostile.faults);
}
