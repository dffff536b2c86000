//! Reservations: creates, changes and deletes real-time vCPUs without end, with times from sensible to absurd.
//! Their code spins, yields, waits, makes arbitrary calls, or deletes itself.

use core::arch::naked_asm;
use core::sync::atomic::{AtomicBool, Ordering};

use tactus_guest::{
    abi::hypercall::{EXTENSION, RT_CHANGE, RT_CREATE, RT_DELETE, RT_QUERY, RT_SELF, RtStatus},
    sbi::{self, Error, call_raw},
    start, time,
};
use tactus_guest_hostile::reservations::{doze, hasten, spin, times};

use super::{progress::Progress, random::Random};

/// Capacity for real-time vCPUs in `systems/hostile-reserve*.toml`.
const PLACES: usize = 6;
/// Calls of one round.
const CALLS: usize = 200;

/// Calls every function with arbitrary arguments from its registers: also creates vCPUs, rings doorbells, and deletes
/// other vCPUs.
#[unsafe(naked)]
extern "C" fn meddle() -> ! {
    naked_asm!(
        "   li   s0, 0",
        "0: li   a7, {extension}",
        "   andi a6, s0, 15",
        // A number, an address in its own memory, and times.
        "   srli a0, s0, 4",
        "   andi a0, a0, 7",
        "   mv   a1, sp",
        "   slli a2, s0, 3",
        "   li   a3, 5000",
        "   li   a4, 50",
        "   li   a5, 5000",
        "   ecall",
        "   addi s0, s0, 1",
        "   j    0b",
        extension = const EXTENSION,
    )
}

/// Deletes itself.
#[unsafe(naked)]
extern "C" fn vanish() -> ! {
    naked_asm!(
        "0: li  a0, {itself}",
        "   li  a7, {extension}",
        "   li  a6, {delete}",
        "   ecall",
        "   j   0b",
        itself = const RT_SELF as i64,
        extension = const EXTENSION,
        delete = const RT_DELETE,
    )
}

const PROGRAMS: [extern "C" fn() -> !; 5] = [spin, hasten, doze, meddle, vanish];

/// Memory for the status that `meddle` requests.
static STACK: [core::sync::atomic::AtomicU64; 256] =
    [const { core::sync::atomic::AtomicU64::new(0) }; 256];

/// A call of Tactus's extension.
fn call(function: usize, arguments: [usize; 6]) -> Result<usize, Error> {
    // SAFETY: the call writes only to `STACK` or to a status on this stack; the vCPUs that it creates run code of
    // this module, which stores nothing.
    unsafe { call_raw(EXTENSION, function, arguments) }.result()
}

/// Tells the second vCPU to stop.
static PEER_STOPS: AtomicBool = AtomicBool::new(false);
/// The second vCPU has stopped.
static PEER_STOPPED: AtomicBool = AtomicBool::new(false);

/// Entry of the second vCPU, which attacks at the same time.
fn peer() -> ! {
    let progress = Progress::again();
    let mut random = Random::new(u64::MAX);
    while !PEER_STOPS.load(Ordering::Relaxed) {
        one_call(progress, &mut random);
    }
    PEER_STOPPED.store(true, Ordering::Release);
    sbi::hart_stop();
    loop {
        core::hint::spin_loop();
    }
}

/// Runs `rounds` rounds, and sometimes deletes all vCPUs in between.
pub fn attack(progress: Progress, rounds: u64) {
    let has_peer = sbi::hart_status(1).is_ok();
    if has_peer && let Err(error) = start::start_hart(1, peer) {
        progress.breach(format_args!("the second vCPU does not start: {error:?}"));
    }
    while let Some(round) = progress.next(rounds) {
        let mut random = Random::new(round);
        for _ in 0..CALLS {
            one_call(progress, &mut random);
        }
        if round % 4 == 0 && !has_peer {
            delete_all(progress);
        }
        progress.through();
    }
    PEER_STOPS.store(true, Ordering::Relaxed);
    while has_peer && !PEER_STOPPED.load(Ordering::Acquire) {
        core::hint::spin_loop();
    }
    delete_all(progress);
    // All places and the whole share are free again.
    let period = time::hz() as usize / 100;
    for _ in 0..PLACES {
        let arguments = [
            doze as *const () as usize,
            0,
            0,
            period,
            period / 40,
            period,
        ];
        if let Err(error) = call(RT_CREATE, arguments) {
            progress.breach(format_args!("what was deleted is not free: {error:?}"));
        }
    }
    delete_all(progress);
}

fn one_call(progress: Progress, random: &mut Random) {
    let number = match random.next() % 8 {
        0 => random.next() as usize,
        1 => RT_SELF as usize,
        _ => (random.next() % PLACES as u64) as usize,
    };
    let [period, budget, deadline] = times(random, time::hz());
    let stack = STACK.as_ptr() as usize;
    let (function, arguments) = match random.next() % 4 {
        0 | 1 => {
            let program = random.choose(&PROGRAMS) as *const () as usize;
            (RT_CREATE, [program, stack, 0, period, budget, deadline])
        }
        2 => (RT_CHANGE, [number, period, budget, deadline, 0, 0]),
        _ if random.next().is_multiple_of(2) => {
            (RT_QUERY, [number, stack, size_of::<RtStatus>(), 0, 0, 0])
        }
        // This vCPU is best effort, so its own deletion is refused.
        _ => (RT_DELETE, [number, 0, 0, 0, 0, 0]),
    };
    match call(function, arguments) {
        Ok(_)
        | Err(Error::InvalidParam | Error::InvalidAddress | Error::Denied | Error::NotSupported) => {
        }
        Err(error) => progress.breach(format_args!("function {function} answers {error:?}")),
    }
}

/// Deletes all real-time vCPUs, including those that other vCPUs create meanwhile, and waits for their end.
fn delete_all(progress: Progress) {
    let mut status = RtStatus::default();
    let end = time::now() + time::hz();
    loop {
        let mut any = false;
        for number in 0..PLACES {
            let address = &raw mut status as usize;
            let query = [number, address, size_of::<RtStatus>(), 0, 0, 0];
            if call(RT_QUERY, query).is_ok() {
                any = true;
                let _ = call(RT_DELETE, [number, 0, 0, 0, 0, 0]);
            }
        }
        if !any {
            return;
        }
        if time::now() > end {
            progress.breach("a real-time vCPU cannot be deleted");
        }
    }
}
