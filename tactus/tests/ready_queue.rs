//! The best-effort ready queue in software and in the fabric: systems run with each of its six implementations.
//!
//! Software replaces hardware that fails.

use tactus::run::machine::Platform;
use tactus::run::session::{Outcome, Verdict};
use tactus_abi::blob::ReadyQueue;
use tactus_board::fabric::FabricPort;
use tactus_board::fault::Fault;
use tactus_board::time::Femtoseconds;

use crate::harness::{
    On, assert_verdict, boot_text, explain, has_given_up_its_queue, once, root, seeds,
};

/// Four best-effort guests of two priorities that share two harts.
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

/// Runs a system on the board `soc` with that queue and these faults of the fabric.
fn run(system: &str, queue: ReadyQueue, faults: &[(Femtoseconds, Fault)]) -> Outcome {
    let mut boot = boot_text(On::Queue(queue), system);
    let Platform::Board(options) = &mut boot.plan.launch.platform else {
        panic!("it is for the board");
    };
    options.faults = faults.to_vec();
    once(&boot)
}

#[test]
fn each_runs_four_guests_on_two_harts() {
    for queue in ReadyQueue::ALL {
        assert_verdict(&run(&four(), queue, &[]), Verdict::Good);
    }
}

/// Some of the scheduling tests, each with some of the queues; `make soak` runs them with all.
#[test]
fn each_passes_the_guests_own_tests() {
    for (system, queues) in [
        ("selftest", &ReadyQueue::ALL[..]),
        ("hostile-flood-smp", &NOT_POLLING),
        ("doorbell", &NOT_POLLING),
        ("channel", &[ReadyQueue::Hybrid]),
        ("hostile-teardown-smp", &[ReadyQueue::Acp]),
        ("hostile-reserve-smp", &[ReadyQueue::Gp]),
        (
            "hostile-levels-smp",
            &[ReadyQueue::Linear, ReadyQueue::Hybrid],
        ),
    ] {
        let file = root().join(format!("systems/{system}.toml"));
        let text = std::fs::read_to_string(file).expect("the system is there");
        for queue in queues {
            assert_verdict(&run(&text, *queue, &[]), Verdict::Good);
        }
    }
}

/// The queues without polling: polling keeps the fabric active in each cycle, and takes twenty times the host's time.
const NOT_POLLING: [ReadyQueue; 5] = [
    ReadyQueue::Bitmap,
    ReadyQueue::Linear,
    ReadyQueue::Gp,
    ReadyQueue::Hybrid,
    ReadyQueue::Acp,
];

/// A system of 16 vCPUs that wake each other, with priorities and harts from the seed; the first has the lowest
/// priority.
fn turns(seed: u64, harts: u64, turns: u32) -> String {
    let mut random = Random(seed);
    let mut text = format!(
        "[system]\nplatform = \"soc\"\nharts = {harts}\nslice = \"1s\"\n\
         [[vm]]\nname = \"turns\"\nimage = \"@turns-selftest\"\nmemory = \"4MiB\"\n\
         bootargs = \"seed={seed} turns={turns}\"\n\
         [[vm.vcpu]]\nclass = \"be\"\npriority = 0\n"
    );
    // Of few priorities, several vCPUs have the same; of many, hardly any.
    let priorities = [3, 255][random.below(2) as usize];
    for _ in 1..16 {
        let priority = 1 + random.below(priorities);
        text += &format!("[[vm.vcpu]]\nclass = \"be\"\npriority = {priority}\n");
        // Some vCPUs may not run on the hart that picks the next vCPU.
        if harts > 1 && random.below(3) == 0 {
            text += &format!("harts = [{}]\n", random.below(harts));
        }
    }
    text
}

/// A figure that identifies the order in which the vCPUs of [`turns`] ran.
#[track_caller]
fn order(outcome: &Outcome) -> f64 {
    assert_verdict(outcome, Verdict::Good);
    outcome.journal.vms[0].metrics["turns_order"].value
}

#[test]
fn all_choose_the_same() {
    for seed in 1..4 {
        let system = turns(seed, 1, 1000);
        let [expected, others @ ..] = ReadyQueue::ALL.map(|queue| order(&run(&system, queue, &[])));
        assert_eq!(others, [expected; 5], "seed {seed}");
    }
}

/// A generator of random numbers: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % limit
    }

    /// Random faults of the fabric at times between `begin` and `end`. A port that hangs is released later.
    fn faults(&mut self, begin: Femtoseconds, end: Femtoseconds) -> Vec<(Femtoseconds, Fault)> {
        let mut faults = Vec::new();
        for _ in 0..=self.below(4) {
            let at = begin.0 + self.below(end.0 - begin.0);
            let port = [FabricPort::Gp, FabricPort::Acp][self.below(2) as usize];
            let fault = match self.below(4) {
                0 => Fault::FabricError { port },
                1 => Fault::FabricEventLost,
                2 => Fault::FabricEventExtra,
                _ => {
                    // From 1 ns to 1 ms.
                    let longest = 10_u64.pow(6 + self.below(7) as u32);
                    let until = at + 1 + self.below(longest);
                    faults.push((Femtoseconds(until), Fault::FabricRelease { port }));
                    Fault::FabricHang { port }
                }
            };
            faults.push((Femtoseconds(at), fault));
        }
        faults
    }
}

/// No vCPU is lost with random vCPUs and random faults of the fabric.
///
/// The hardware picks the same vCPUs as the bitmap, until the hypervisor reports that it no longer uses the hardware.
/// With every fault, each vCPU runs on one hart at a time and answers in the end.
#[test]
#[ignore = "long"]
fn no_vcpu_is_lost_by_faults_of_the_fabric() {
    for seed in seeds("READY_QUEUE_SEEDS", 0..10) {
        for harts in [1, 2] {
            let system = turns(seed, harts, 5000);
            let expected = run(&system, ReadyQueue::Bitmap, &[]);
            let begin = expected.journal.vms[0].started.expect("it started");
            let end = expected.board.as_ref().expect("it ran on the board").time;
            for queue in ReadyQueue::ALL {
                let mut random = Random(seed ^ (queue as u64) << 32 ^ harts << 40);
                // Ticks of 100 ns.
                let begin = Femtoseconds(begin * 100_000_000);
                let mut faults = random.faults(begin, end);
                if !queue.is_in_hardware() {
                    faults.clear();
                }
                let outcome = run(&system, queue, &faults);
                let order = order(&outcome);
                if harts == 1 && !has_given_up_its_queue(&outcome) {
                    let expected = expected.journal.vms[0].metrics["turns_order"].value;
                    assert_eq!(order, expected, "seed {seed}, {queue:?}, {faults:?}");
                }
            }
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
            // Before the hypervisor starts, and while the guests run.
            for at in [1, 22] {
                let at = Femtoseconds(at * MILLISECOND);
                let outcome = run(&four(), queue, &[(at, fault)]);
                assert_verdict(&outcome, Verdict::Good);
                if at.0 == MILLISECOND && by_memory != (queue == ReadyQueue::Gp) {
                    assert!(
                        has_given_up_its_queue(&outcome),
                        "{queue:?} {fault:?}\n{}",
                        explain(&outcome)
                    );
                }
            }
        }
    }
}
