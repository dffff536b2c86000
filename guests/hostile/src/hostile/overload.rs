//! Consumes time rather than memory: a timer that never rests, floods of calls, and spinning.

use core::arch::{asm, naked_asm};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use tactus_guest::{
    abi::map,
    csr, devicetree, hypervisor,
    sbi::{self, HartMask, call_raw},
    sbi_spec::rfnc,
    start, time, trap,
};

use tactus_guest_hostile::floating;

use super::progress::Progress;

/// Repeats `body` for `ticks` ticks.
fn repeat(ticks: u64, body: impl FnMut()) {
    repeat_at_most(usize::MAX, ticks, body);
}

/// Repeats `body` for `ticks` ticks, but at most about `rounds` times.
fn repeat_at_most(rounds: usize, ticks: u64, mut body: impl FnMut()) {
    const BATCH: usize = 16;
    let end = time::now() + ticks;
    for _ in 0..rounds.div_ceil(BATCH) {
        if time::now() >= end {
            break;
        }
        for _ in 0..BATCH {
            body();
        }
    }
}

/// Runs the phases of an attack, each for an equal share of `ticks`. After a restart the guest continues with the next
/// phase.
fn phases(progress: Progress, ticks: u64, phases: &[&dyn Fn(u64)]) {
    let share = ticks / phases.len() as u64;
    while let Some(phase) = progress.next(phases.len() as u64) {
        phases[phase as usize](share);
        progress.through();
    }
}

/// Programs the timer to 0 and to infinity, in every way and as fast as possible.
pub fn timer(progress: Progress, ticks: u64) {
    phases(
        progress,
        ticks,
        &[
            &|ticks| {
                repeat(ticks, || {
                    time::set_deadline(0);
                    time::set_deadline(time::NEVER);
                });
            },
            &|ticks| {
                repeat(ticks, || {
                    // Any answer is accepted: only the load of the calls counts.
                    let _ = sbi::set_timer(0);
                    let _ = sbi::set_timer(u64::MAX);
                    let _ = sbi::set_timer(time::now());
                    let _ = sbi::set_timer(1 << 63);
                });
            },
            // An interrupt that is due again as soon as its handler returns.
            &|ticks| {
                time::set_deadline(0);
                // SAFETY: `storm` returns to the interrupted instruction and changes no other state.
                unsafe {
                    trap::with_vector(storm as *const () as usize, || {
                        csr::write::<{ csr::SIE }>(csr::INTERRUPT_TIMER);
                        let end = time::now() + ticks;
                        storm_until(end);
                        csr::write::<{ csr::SIE }>(0);
                    });
                }
            },
            // A sleep that ends at once.
            &|ticks| {
                time::set_deadline(0);
                // SAFETY: interrupts are off in `sstatus`: none is taken.
                unsafe { csr::write::<{ csr::SIE }>(csr::INTERRUPT_TIMER) };
                repeat(ticks, trap::wait_for_interrupt);
                // SAFETY: as before.
                unsafe { csr::write::<{ csr::SIE }>(0) };
            },
            // Deadlines in the near future, with sleep until each.
            &|ticks| {
                // SAFETY: as before.
                unsafe { csr::write::<{ csr::SIE }>(csr::INTERRUPT_TIMER) };
                repeat(ticks, || {
                    time::set_deadline(time::now() + 2);
                    trap::wait_for_interrupt();
                });
                // SAFETY: as before.
                unsafe { csr::write::<{ csr::SIE }>(0) };
            },
        ],
    );
    time::set_deadline(time::NEVER);
}

/// Takes interrupts without pause until the time reaches `end`.
#[unsafe(naked)]
extern "C" fn storm_until(end: u64) {
    naked_asm!(
        // `storm` returns to the next instruction again and again, and finally with interrupts off.
        "csrsi  sstatus, 2",
        "nop",
        "ret",
    )
}

/// A handler that leaves its interrupt pending. `a0` is the argument of [`storm_until`].
#[unsafe(naked)]
extern "C" fn storm() {
    naked_asm!(
        ".balign 4",
        "csrr   t0, time",
        "bltu   t0, a0, 1f",
        "li     t1, {spie}",
        "csrc   sstatus, t1",
        "1:",
        "sret",
        spie = const csr::SSTATUS_SPIE,
    )
}

/// Spins that each vCPU has finished.
static SPINS: [AtomicU64; start::HARTS_MAX] = [const { AtomicU64::new(0) }; start::HARTS_MAX];
/// Whether floating-point registers changed on any vCPU.
static FLOATING_LOST: AtomicBool = AtomicBool::new(false);
/// The time at which the other vCPUs stop spinning.
static SPIN_END: AtomicU64 = AtomicU64::new(0);

/// Never sleeps or calls, with interrupts off, on all vCPUs; uses the floating-point unit, as the other guests do
/// too.
pub fn spin(progress: Progress, ticks: u64) {
    phases(
        progress,
        ticks,
        &[&|ticks| {
            SPIN_END.store(time::now() + ticks, Ordering::Release);
            let harts = devicetree::harts();
            for hart in 1..harts {
                if let Err(error) = start::start_hart(hart, spinning_peer) {
                    progress.breach(format_args!("vCPU {hart} does not start: {error:?}"));
                }
            }
            spin_to_the_end();
            if FLOATING_LOST.load(Ordering::Acquire) {
                progress.breach("other floating-point registers than a vCPU's own got there");
            }
            for (vcpu, spins) in SPINS[..harts].iter().enumerate() {
                if spins.load(Ordering::Acquire) == 0 {
                    progress.breach(format_args!("vCPU {vcpu} did not get to spin"));
                }
            }
        }],
    );
}

/// Entry of every vCPU but the first.
fn spinning_peer() -> ! {
    spin_to_the_end();
    sbi::hart_stop();
    loop {
        trap::wait_for_interrupt();
    }
}

/// Spins, with the vCPU's own pattern in its registers.
fn spin_to_the_end() {
    let vcpu = start::hart();
    let pattern = 0x5ca1_ab1e_f10a_7000 | vcpu as u64;
    while time::now() < SPIN_END.load(Ordering::Acquire) {
        let kept = floating::keeps(pattern, || {
            for number in 0..20_000 {
                core::hint::black_box(number);
            }
        });
        if !kept {
            FLOATING_LOST.store(true, Ordering::Release);
        }
        SPINS[vcpu].fetch_add(1, Ordering::AcqRel);
    }
}

static PEER_RUNS: AtomicBool = AtomicBool::new(false);
static PEER_END: AtomicU64 = AtomicU64::new(0);
static IPIS: AtomicU64 = AtomicU64::new(0);

/// The second vCPU: floods the first, with interrupts on.
fn peer() -> ! {
    PEER_RUNS.store(true, Ordering::Release);
    trap::on_software(count_ipi);
    trap::enable_interrupts();
    while time::now() < PEER_END.load(Ordering::Acquire) {
        let _ = sbi::send_ipi(HartMask::ALL);
        let _ = sbi::remote_sfence_vma(HartMask::ALL, 0, usize::MAX);
    }
    trap::disable_interrupts();
    sbi::hart_stop();
    loop {
        trap::wait_for_interrupt();
    }
}

fn count_ipi() {
    IPIS.fetch_add(1, Ordering::Relaxed);
}

/// Most executions of the guest's own fences: no load for a hypervisor, but slow on an emulator.
const FENCES: usize = 2000;

/// Texts of 4 KiB that are printed. Bounded by number, not by time, so that the console stays readable.
const TEXTS: usize = 16;

/// Floods: hypercalls, doorbells, IPIs and remote fences between two vCPUs, vCPUs that start and stop.
pub fn flood(progress: Progress, ticks: u64) {
    phases(
        progress,
        ticks,
        &[
            &|ticks| {
                repeat(ticks, || {
                    let _ = hypervisor::version();
                    let _ = hypervisor::cpu_time();
                    let _ = hypervisor::vm_status(0);
                    let _ = hypervisor::vm_restart(0);
                    let _ = sbi::spec_version();
                });
            },
            &|ticks| {
                let doorbell = map::DOORBELL_BASE as *const AtomicU32;
                repeat(ticks, || {
                    let _ = hypervisor::channel_notify(0);
                    // SAFETY: the doorbell page is the VM's own.
                    unsafe { &*doorbell }.store(1, Ordering::Relaxed);
                });
            },
            // Long texts.
            &|_| {
                let text = [b'.'; 4096];
                for _ in 0..TEXTS {
                    // A partial write is as good as a whole one.
                    let _ = sbi::console_write(&text);
                }
                tactus_guest::println!();
            },
            // The longest text that a call can make the hypervisor read: all of the memory.
            &|ticks| {
                repeat(ticks, || {
                    // SAFETY: a fence changes no memory.
                    unsafe {
                        for function in 0..7 {
                            call_raw(rfnc::EID_RFNC, function, [1, 0, 0, usize::MAX, 0, 0]);
                        }
                    }
                });
            },
            &|ticks| {
                PEER_END.store(time::now() + 2 * ticks, Ordering::Release);
                trap::on_software(count_ipi);
                trap::enable_interrupts();
                if sbi::hart_status(1).is_err() {
                    // A VM of one vCPU floods itself.
                    PEER_RUNS.store(true, Ordering::Release);
                } else if let Err(error) = start::start_hart(1, peer) {
                    progress.breach(format_args!("the second vCPU does not start: {error:?}"));
                }
                let patience = time::now() + ticks;
                trap::on_timer(|| {});
                while !PEER_RUNS.load(Ordering::Acquire) && time::now() < patience {
                    // Sleeps: an emulator that runs harts in turns would otherwise delay the other vCPU for long.
                    time::set_deadline(time::now() + 1000);
                    trap::wait_for_interrupt();
                }
                repeat(ticks, || {
                    let _ = sbi::send_ipi(HartMask::ALL);
                    let _ = sbi::remote_fence_i(HartMask::ALL);
                    let _ = sbi::remote_sfence_vma(HartMask::ALL, 0x1000, usize::MAX - 0x1000);
                });
                trap::disable_interrupts();
                let ipis = IPIS.load(Ordering::Relaxed);
                if !PEER_RUNS.load(Ordering::Acquire) {
                    progress.breach("the second vCPU never ran");
                }
                if ipis == 0 {
                    progress.breach("no IPI arrived");
                }
            },
            // vCPUs that start and stop.
            &|ticks| {
                PEER_END.store(0, Ordering::Release);
                if sbi::hart_status(1).is_ok() {
                    repeat(ticks, || {
                        let _ = start::start_hart(1, peer);
                        let _ = sbi::hart_status(1);
                        let _ = start::start_hart(0, peer);
                    });
                }
            },
            &|ticks| {
                repeat_at_most(FENCES, ticks, || {
                    // SAFETY: fences change no memory.
                    unsafe { asm!("sfence.vma", "fence.i", options(nostack)) };
                });
            },
        ],
    );
}
