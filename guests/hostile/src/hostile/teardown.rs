//! Ends the VM while its other vCPU is busy: one hart tears down state that another one is using.

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{
    abi::map,
    power,
    sbi::{self, HartMask},
    start, time, trap,
    uart::Uart,
};

use super::{progress::Progress, random::Random};

/// Occupations of the second vCPU meanwhile.
const OCCUPATIONS: u64 = 7;
/// Ways to end the VM.
const ENDS: u64 = 4;
/// Either vCPU may end it.
const VCPUS: u64 = 2;

/// The number of the life, for the second vCPU.
static LIFE: AtomicU64 = AtomicU64::new(0);
/// Whether the second vCPU has started.
static PEER_RUNS: AtomicU64 = AtomicU64::new(0);

/// Starts and ends `rounds` times in each combination.
pub fn attack(progress: Progress, rounds: u64) {
    let Some(life) = progress.next(rounds * OCCUPATIONS * VCPUS * ENDS) else {
        return;
    };
    LIFE.store(life, Ordering::Release);
    if let Err(error) = start::start_hart(1, peer) {
        progress.breach(format_args!("the second vCPU does not start: {error:?}"));
    }
    // In half of the lives the second vCPU may not have run yet at the end.
    if life.is_multiple_of(2) {
        trap::on_timer(|| {});
        trap::enable_interrupts();
        let patience = time::now() + time::hz() / 10;
        while PEER_RUNS.load(Ordering::Acquire) == 0 && time::now() < patience {
            time::set_deadline(time::now() + 100);
            trap::wait_for_interrupt();
        }
        if PEER_RUNS.load(Ordering::Acquire) == 0 {
            progress.breach("the second vCPU does not run");
        }
        trap::disable_interrupts();
    }
    time::busy_wait(Random::new(life).next() % 200);
    if ender(life) == 0 {
        end(life);
        progress.breach("the end did not come");
    }
    // The other vCPU ends the VM.
    occupy(life + 1);
}

/// Entry of the second vCPU.
fn peer() -> ! {
    PEER_RUNS.store(1, Ordering::Release);
    let life = LIFE.load(Ordering::Acquire);
    if ender(life) == 1 {
        time::busy_wait(Random::new(life).next() % 300);
        end(life);
    }
    occupy(life);
}

/// The vCPU that ends the life.
fn ender(life: u64) -> u64 {
    life / OCCUPATIONS % VCPUS
}

/// Ends the VM.
fn end(life: u64) {
    match life / OCCUPATIONS / VCPUS % ENDS {
        // SAFETY: reads from an address that is not the guest's, which faults.
        0 => unsafe {
            (0x4000_0000 as *const u64).read_volatile();
        },
        // SAFETY: as before, by a jump.
        1 => unsafe {
            core::mem::transmute::<usize, extern "C" fn()>(0x7fff_fff0)();
        },
        2 => power::restart(),
        // SAFETY: the finisher is the guest's own.
        _ => unsafe {
            (map::FINISHER_BASE as *mut u32).write_volatile(map::FINISHER_RESET);
        },
    }
}

/// Keeps the vCPU busy for ever, in the life's way.
fn occupy(life: u64) -> ! {
    match life % OCCUPATIONS {
        0 => loop {
            core::hint::spin_loop();
        },
        1 => loop {
            trap::wait_for_interrupt();
        },
        2 => loop {
            // Any answer is accepted.
            let _ = sbi::send_ipi(HartMask::ALL);
        },
        3 => loop {
            let _ = sbi::remote_sfence_vma(HartMask::ALL, 0, usize::MAX);
            let _ = sbi::remote_fence_i(HartMask::ALL);
        },
        4 => loop {
            core::hint::black_box(Uart::CONSOLE.receive());
        },
        5 => loop {
            time::set_deadline(time::now() + 20);
            trap::wait_for_interrupt();
        },
        _ => loop {
            sbi::hart_stop();
        },
    }
}
