//! The best-effort ready queue, in software and in the fabric: systems run with each of the six, and the software takes over from hardware
//! that fails.

mod harness;

use tactus::artifacts::Artifacts;
use tactus::run::board::{Fabric, Options};
use tactus::run::machine::Platform;
use tactus::run::session::{Outcome, Verdict};
use tactus_abi::blob::ReadyQueue;
use tactus_board::fabric::FabricPort;
use tactus_board::fault::Fault;
use tactus_board::profile::Profile;
use tactus_board::time::Femtoseconds;

use harness::{On, assert_verdict, boot_text, explain, once, root};

/// Four best-effort guests of two priorities, that share two harts.
const FOUR: &str = r#"
[system]
platform = "soc"
harts = 2
slice = "500us"
"#;

fn four() -> String {
    let mut text = FOUR.to_owned();
    for (name, priority) in [("a", 100), ("b", 100), ("c", 90), ("d", 90)] {
        text += &format!(
            "[[vm]]\nname = \"{name}\"\nimage = \"@hello\"\nmemory = \"4MiB\"\n\
             [[vm.vcpu]]\nclass = \"be\"\npriority = {priority}\n"
        );
    }
    text
}

/// The system with that queue.
fn with(system: &str, queue: ReadyQueue) -> String {
    let line = format!("[system]\nready_queue = \"{}\"\n", queue.name());
    let system = system.replacen("\"qemu-virt\"", "\"soc\"", 1);
    let system = system.replacen("[system]\n", &line, 1);
    if queue.is_in_hardware() {
        system.replacen("[[vm]]", "[fabric]\ndesign = \"ready_queue\"\n\n[[vm]]", 1)
    } else {
        system
    }
}

/// Runs it on the board `soc`, whose fabric goes wrong so.
fn run(system: &str, faults: &[(Femtoseconds, Fault)]) -> Outcome {
    let mut boot = boot_text(On::Board, system);
    let mut options = Options::new(Profile::named("soc").expect("it comes with the board"));
    let model = Artifacts::Workspace
        .model("ready_queue")
        .unwrap_or_else(|missing| panic!("{}: {}", missing.reason, missing.cure));
    options.fabric = Some(Fabric { model, waves: None });
    options.faults = faults.to_vec();
    boot.plan = boot.plan.on(Platform::Board(Box::new(options)));
    once(&boot)
}

fn warns(outcome: &Outcome) -> bool {
    let log = outcome.journal.log.text();
    log.contains("warning") && log.contains("ready queue in hardware is not used")
}

#[test]
fn each_runs_four_guests_on_two_harts() {
    for queue in ReadyQueue::ALL {
        let outcome = run(&with(&four(), queue), &[]);
        assert_verdict(&outcome, Verdict::Good);
        assert!(!warns(&outcome), "{queue:?}\n{}", explain(&outcome));
    }
}

#[test]
fn each_passes_the_guests_own_tests() {
    for system in ["selftest", "hostile-flood-smp", "doorbell"] {
        let file = root().join(format!("systems/{system}.toml"));
        let text = std::fs::read_to_string(file).expect("the system is there");
        // The one that has the fabric at work in each of its cycles takes the host twenty times as long.
        let queues = ReadyQueue::ALL
            .into_iter()
            .filter(|queue| *queue != ReadyQueue::AcpPolling || system == "selftest");
        for queue in queues {
            let outcome = run(&with(&text, queue), &[]);
            assert_verdict(&outcome, Verdict::Good);
            assert!(!warns(&outcome), "{queue:?}\n{}", explain(&outcome));
        }
    }
}

#[test]
fn software_takes_over_from_hardware_that_fails() {
    const MILLISECOND: u64 = 1_000_000_000_000;
    let faults = [
        Fault::FabricHang {
            port: FabricPort::Gp,
        },
        Fault::FabricError {
            port: FabricPort::Gp,
        },
        Fault::FabricHang {
            port: FabricPort::Acp,
        },
        Fault::FabricError {
            port: FabricPort::Acp,
        },
    ];
    for queue in [ReadyQueue::Gp, ReadyQueue::Hybrid, ReadyQueue::Acp] {
        for fault in faults {
            let by_memory = matches!(
                fault,
                Fault::FabricHang {
                    port: FabricPort::Acp
                } | Fault::FabricError {
                    port: FabricPort::Acp
                }
            );
            // Before the hypervisor begins, and while the guests run.
            for at in [1, 22] {
                let at = Femtoseconds(at * MILLISECOND);
                let outcome = run(&with(&four(), queue), &[(at, fault)]);
                assert_verdict(&outcome, Verdict::Good);
                if at.0 == MILLISECOND && by_memory != (queue == ReadyQueue::Gp) {
                    assert!(
                        warns(&outcome),
                        "{queue:?} {fault:?}\n{}",
                        explain(&outcome)
                    );
                }
            }
        }
    }
}
