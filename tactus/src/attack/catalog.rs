//! The attacks that the guest `attacker` knows (`guests/hostile/src/attacker/main.rs`).

/// The right that an attack uses; without it the attack does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// None that not every VM has.
    Nothing,
    /// A channel.
    Channel,
    /// A device that another VM emulates.
    Device,
    /// More than one vCPU.
    Vcpus,
    /// Real-time vCPUs made at run time, or a share of real time.
    Reservations,
    /// An accelerator.
    Accelerator,
    /// An I/O port, or timed I/O.
    Io,
}

impl Needs {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Channel => "a channel",
            Self::Device => "a channel with `device`",
            Self::Vcpus => "two vCPUs",
            Self::Reservations => "`rt_vcpus` or `rt_share`",
            Self::Accelerator => "an accelerator",
            Self::Io => "an I/O port or timed I/O",
        }
    }
}

/// An attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attack {
    /// Its name, which the guest knows it by.
    pub name: &'static str,
    /// The right that it uses.
    pub needs: Needs,
    /// What the hostile VM does.
    pub words: &'static str,
}

const fn attack(name: &'static str, needs: Needs, words: &'static str) -> Attack {
    Attack { name, needs, words }
}

/// All of them, in the order in which they are run.
pub const ATTACKS: [Attack; 24] = [
    attack(
        "walk",
        Needs::Nothing,
        "takes random steps of all the others",
    ),
    attack(
        "thrash",
        Needs::Nothing,
        "evicts the shared cache by page tables and data",
    ),
    attack(
        "shared",
        Needs::Channel,
        "writes all memory that it shares, and rings",
    ),
    attack("ring", Needs::Channel, "rings all doorbells by stores"),
    attack("notify", Needs::Channel, "rings all doorbells by calls"),
    attack(
        "channel",
        Needs::Channel,
        "writes garbage into rings, sends messages of every kind",
    ),
    attack(
        "calls",
        Needs::Nothing,
        "makes calls of every kind with any arguments",
    ),
    attack(
        "service",
        Needs::Channel,
        "calls all VMs that it may, and serves calls by anything",
    ),
    attack(
        "virtio",
        Needs::Device,
        "drives virtio devices of other VMs in every wrong way",
    ),
    attack(
        "ipi",
        Needs::Nothing,
        "sends interrupts and remote fences to all vCPUs",
    ),
    attack("vcpus", Needs::Vcpus, "stops and starts vCPUs"),
    attack(
        "reserve",
        Needs::Reservations,
        "creates, changes and deletes real-time vCPUs",
    ),
    attack(
        "timer",
        Needs::Nothing,
        "programs its timer to the past and the near future",
    ),
    attack("spin", Needs::Nothing, "computes with interrupts off"),
    attack(
        "end",
        Needs::Nothing,
        "completes interrupts of lines that stay up, by calls",
    ),
    attack(
        "complete",
        Needs::Nothing,
        "completes them by the virtual PLIC",
    ),
    attack(
        "toggle",
        Needs::Nothing,
        "enables and disables pending interrupts",
    ),
    attack(
        "page",
        Needs::Nothing,
        "moves and overwrites its interrupt page",
    ),
    attack(
        "mmio",
        Needs::Nothing,
        "writes garbage to registers of all its devices",
    ),
    attack(
        "accelerator",
        Needs::Accelerator,
        "writes garbage to accelerators, starts computations",
    ),
    attack(
        "io",
        Needs::Io,
        "writes garbage to I/O ports and timed I/O, sends requests",
    ),
    attack(
        "instructions",
        Needs::Nothing,
        "executes privileged and undefined instructions",
    ),
    attack("restart", Needs::Nothing, "restarts itself"),
    attack(
        "foreign",
        Needs::Nothing,
        "accesses addresses that are not its own, and is restarted",
    ),
];

/// The attack of that name.
pub fn find(name: &str) -> Option<&'static Attack> {
    ATTACKS.iter().find(|attack| attack.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guest_knows_each_attack() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../guests/hostile/src/attacker/main.rs"
        );
        let guest = std::fs::read_to_string(path).expect("the guest's source");
        let known = guest.matches("    (\"").count();
        assert_eq!(known + 1, ATTACKS.len());
        for attack in ATTACKS.iter().filter(|attack| attack.name != "walk") {
            let name = format!("    (\"{}\", ", attack.name);
            assert!(guest.contains(&name), "{}", attack.name);
        }
    }
}
