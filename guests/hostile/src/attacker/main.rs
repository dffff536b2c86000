//! A hostile guest for any VM: `tactus attack` puts it in the place of a VM, with that VM's rights.
//!
//! It finds its rights in its devicetree, and attacks without end on all its vCPUs. Whatever is refused it tolerates:
//! an exception continues behind the instruction, and after a fault it begins again when the hypervisor restarts it.
//!
//! Boot arguments: `attack=NAME` (`walk`): one of [`ATTACKS`], or `walk`, which takes a random step of any of them each
//! time; `seed=N` (1): seed of its random numbers; `after=N` (0): it sleeps until this time, in ticks.
//!
//! It says `fail` when an access that must be refused succeeds, and nothing else but the phase `attack` when it begins.
#![no_std]
#![no_main]

mod accelerator;
mod calls;
mod devices;
mod foreign;
mod instructions;
mod interrupts;
mod io;
mod life;
mod memory;
mod reservations;
mod rights;
mod served;
mod service;
mod shared;
mod timer;
mod traps;
mod vcpus;

use random::Random;
use rights::Rights;
use tactus_guest::{csr, devicetree, record, start, time, trap};
use tactus_guest_hostile::{random, virtqueues::Victim};

tactus_guest::entry!(main);

/// A vCPU that attacks.
struct Attacker {
    random: Random,
    rights: Rights,
    /// Devices that others emulate for it, as far as it has looked for them.
    victims: [Option<Option<Victim>>; served::DEVICES],
}

/// A step of an attack: a bounded number of actions.
type Step = fn(&mut Attacker);

/// All attacks but `walk`; those that end the VM's life are last.
const ATTACKS: [(&str, Step); 23] = [
    ("spin", timer::spin),
    ("timer", timer::abuse),
    ("ring", shared::ring),
    ("notify", shared::notify),
    ("calls", calls::flood),
    ("service", service::misuse),
    ("virtio", served::misuse),
    ("ipi", vcpus::interrupt),
    ("vcpus", vcpus::restart),
    ("reserve", reservations::churn),
    ("end", interrupts::end),
    ("complete", interrupts::complete),
    ("toggle", interrupts::toggle),
    ("page", interrupts::page),
    ("channel", shared::garbage),
    ("shared", shared::write_all),
    ("accelerator", accelerator::garbage),
    ("io", io::garbage),
    ("mmio", devices::garbage),
    ("instructions", instructions::refused),
    ("thrash", memory::thrash),
    ("restart", life::restart),
    ("foreign", foreign::access),
];
/// Those that end the VM's life.
const DEADLY: usize = 2;
/// `walk` takes a deadly step once in so many.
const DEADLY_EVERY: u64 = 2_048;

fn main() {
    traps::tolerate_all();
    sleep_until(devicetree::number("after", 0));
    attack_for_ever()
}

/// Sleeps until this time, in ticks.
fn sleep_until(ticks: u64) {
    while time::now() < ticks {
        time::set_deadline(ticks);
        // SAFETY: interrupts are off in `sstatus`: none is taken.
        unsafe { csr::write::<{ csr::SIE }>(csr::INTERRUPT_TIMER) };
        trap::wait_for_interrupt();
    }
    time::set_deadline(time::NEVER);
}

/// Attacks without end.
fn attack_for_ever() -> ! {
    let name = devicetree::argument("attack").unwrap_or("walk");
    let attack = ATTACKS.iter().find(|(known, _)| *known == name);
    assert!(
        attack.is_some() || name == "walk",
        "there is no attack \"{name}\""
    );
    // Another life does other things.
    let seed = devicetree::number("seed", 1) ^ start::boot_ticks() << 20;
    let mut attacker = Attacker {
        random: Random::new(seed ^ (start::hart() as u64) << 56),
        rights: Rights::find(),
        victims: [None; served::DEVICES],
    };
    if start::hart() == 0 {
        record::phase("attack");
    }
    traps::enable();
    loop {
        vcpus::start_all(&attacker, attack_for_ever);
        let step = attack.map_or_else(|| attacker.any_step(), |(_, step)| *step);
        step(&mut attacker);
    }
}

impl Attacker {
    /// A step of any attack.
    fn any_step(&mut self) -> Step {
        let harmless = ATTACKS.len() - DEADLY;
        let number = self.random.next();
        let index = if number.is_multiple_of(DEADLY_EVERY) {
            harmless + self.below(DEADLY)
        } else {
            self.below(harmless)
        };
        ATTACKS[index].1
    }

    /// A random number below `end`.
    fn below(&mut self, end: usize) -> usize {
        (self.random.next() >> 8) as usize % end.max(1)
    }

    /// True once in `times`.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
