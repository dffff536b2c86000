//! What the walk is told of the program: which functions it walks beside the hot section, how often each loop runs at
//! most, and what never returns.

/// Functions that are walked beside the hot section: those that its ways go through now and then. What else a way calls
/// is not walked, and a stretch that comes there is none of those that the bounds are of.
pub const ALSO: &[&str] = &[
    "tactus_hypervisor::arch::riscv::context::watch",
    "tactus_hypervisor::hart::Hart::has_urgent_news",
    "tactus_hypervisor::hart::Hart::post",
    "tactus_hypervisor::hart::timer::Timer::credit_since",
    "tactus_hypervisor::relocation::Relocation::promised",
    "tactus_hypervisor::sched::block::wait_for_interrupt",
    "tactus_hypervisor::sched::fpu::give",
    "tactus_hypervisor::sched::fpu::save",
    "tactus_hypervisor::sched::jobs::account_for_job",
    "tactus_hypervisor::sched::jobs::throttle",
    "tactus_hypervisor::sched::modes::goes_on",
    "tactus_hypervisor::sched::modes::is_over",
    "tactus_hypervisor::sched::run_queue::edf_insert",
    "tactus_hypervisor::sched::run_queue::edf_pop",
    "tactus_hypervisor::sched::switch::charge",
    "tactus_hypervisor::sched::wake::wake_if_due",
    "tactus_hypervisor::system::System::vcpu",
    "tactus_policy::ready::ListQueue<_>::highest_to",
    "tactus_policy::reservation::Account::release_at",
];

/// Whether a function of that name ends the hypervisor: it never returns, and no guest runs afterwards.
pub fn is_dead(name: &str) -> bool {
    name.starts_with("core::panicking") || name == "tactus_hypervisor::defect"
}

/// How often a loop goes back to its beginning at most.
#[derive(Clone, Copy, Debug)]
pub enum Most {
    /// So often.
    Fixed(u64),
    /// As often as the system has vCPUs.
    Vcpus,
    /// As often as a heap of the system's vCPUs has levels.
    Levels,
}

impl Most {
    /// In a system of so many vCPUs.
    pub fn of(self, vcpus: u64) -> u64 {
        match self {
            Self::Fixed(most) => most,
            Self::Vcpus => vcpus,
            Self::Levels => u64::from(vcpus.max(1).ilog2()) + 1,
        }
    }
}

/// The loops of a function.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    /// The function.
    pub function: &'static str,
    /// How often each goes back.
    pub most: Most,
    /// Why no more.
    pub reason: &'static str,
}

/// All.
pub const LOOPS: &[Loop] = &[
    Loop {
        function: "guest_trap",
        most: Most::Fixed(1),
        reason: "a vCPU that is not entered makes the hart choose again, which begins with a look",
    },
    Loop {
        function: "tactus_interrupt",
        most: Most::Fixed(15),
        reason: "a store-conditional fails where another hart has written meanwhile, of which there are 15 at most",
    },
    Loop {
        function: "tactus_hypervisor::dispatch::tick::serve_due_at",
        most: Most::Vcpus,
        reason: "each turn takes a vCPU's release from the hart's, which nothing adds to meanwhile",
    },
    Loop {
        function: "tactus_policy::deadline::Deadlines<_>::sift_down",
        most: Most::Levels,
        reason: "each turn goes down a level of a heap that holds a vCPU once",
    },
    Loop {
        function: "tactus_policy::deadline::Deadlines<_>::sift_up",
        most: Most::Levels,
        reason: "each turn goes up a level of a heap that holds a vCPU once",
    },
    Loop {
        function: "tactus_policy::ready::ListQueue<_>::highest_to",
        most: Most::Fixed(3),
        reason: "each turn goes to the next of 4 words of the bitmap of 256 priorities",
    },
    Loop {
        function: "<tactus_policy::ready::ListQueue<_> as tactus_policy::ready::ReadyQueue>::pop_where",
        most: Most::Vcpus,
        reason: "each turn goes to a lower list that holds a vCPU, or to the next vCPU of a list",
    },
];

/// What is stated of the loops of a function.
pub fn most(function: &str) -> Option<Most> {
    let mut all = LOOPS.iter().filter(|entry| entry.function == function);
    all.next().map(|entry| entry.most)
}
