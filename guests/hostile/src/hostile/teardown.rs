//! Dies while its other vCPU is in the middle of something: what one hart takes down, another one is using.

use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{
    abi::map,
    power,
    sbi::{self, HartMask},
    start, time, trap,
    uart::Uart,
};

use super::{progress::Progress, random::Random};

/// What the second vCPU does meanwhile.
const OCCUPATIONS: u64 = 7;
/// Ways for the VM to end.
const ENDS: u64 = 4;
/// Each of them by either vCPU.
const VCPUS: u64 = 2;

/// The life's number, for the second vCPU.
static LIFE: AtomicU64 = AtomicU64::new(0);
/// The second vCPU has begun.
static PEER_RUNS: AtomicU64 = AtomicU64::new(0);

/// Lives and dies `rounds` times in each combination.
pub fn attack(progress: Progress, rounds: u64) {
    let Some(life) = progress.next(rounds * OCCUPATIONS * VCPUS * ENDS) else {
        return;
    };
    LIFE.store(life, Ordering::Release);
    if let Err(error) = start::start_hart(1, peer) {
        progress.breach(format_args!("the second vCPU does not start: {error:?}"));
    }
    // In half of the lives the second vCPU may not have got to run when the end comes.
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
    // The other vCPU is the one to end it.
    occupy(life + 1);
}

/// The second vCPU.
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
        // SAFETY: reads an address that is not the guest's.
        0 => unsafe {
            (0x4000_0000 as *const u64).read_volatile();
        },
        // SAFETY: as before, through the address of a jump.
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
            // Whatever they answer.
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
