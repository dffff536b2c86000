//! The page by which a vCPU takes interrupts. Writes arbitrary data into it, moves it, gives it up, passes addresses
//! that are foreign or not aligned, while doorbells and interrupts between its vCPUs arrive; and ends meanwhile. Two
//! vCPUs do so at once.
//!
//! The hypervisor may write only to the page's current place: all of the memory around it is compared.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use tactus_guest::{
    abi::{hypercall, map},
    channel::Channel,
    csr, interrupts, power,
    sbi::{self, HartMask},
    start, time, trap,
};
use tactus_guest_hostile::meeting::Meeting;

use super::{progress::Progress, random::Random, ring};

/// Steps of each vCPU in one life.
const STEPS: u64 = 3_000;
/// Words of a page.
const WORDS: usize = 8;
/// Capacity of an arena in pages.
const SLOTS: usize = 64;

const INVALID_PARAM: isize = -3;
const INVALID_ADDRESS: isize = -5;

#[repr(align(64))]
struct Arena([AtomicU64; SLOTS * WORDS]);

/// One arena for each vCPU. All zero when the guest starts.
static ARENAS: [Arena; 2] = [const { Arena([const { AtomicU64::new(0) }; _]) }; 2];

/// The number of the life, for the second vCPU.
static LIFE: AtomicU64 = AtomicU64::new(0);
static DOORBELLS: AtomicU32 = AtomicU32::new(0);

/// Attacks in `lives` lives, then verifies correct operation in one more.
pub fn attack(progress: Progress, memory: u64, lives: u64) {
    let meeting = Meeting::new(1).expect("the system gives the hostile guest such a channel");
    match progress.next(lives) {
        Some(life) => {
            // The hypervisor has dropped the previous life's page: waits for the peer's doorbells, one a millisecond.
            time::busy_wait(time::hz() / 400);
            for arena in &ARENAS {
                if arena.0.iter().any(|word| word.load(Ordering::Relaxed) != 0) {
                    progress.breach("a page of an earlier life is written to");
                }
            }
            LIFE.store(life, Ordering::Release);
            if let Err(error) = start::start_hart(1, second) {
                progress.breach(format_args!("the second vCPU does not start: {error:?}"));
            }
            trap::on_external(|_| {});
            abuse(progress, memory, life);
            power::restart()
        }
        None => {
            if let Err(what) = hear(meeting.channel).and_then(|()| ring::in_peace(meeting)) {
                progress.breach(what);
            }
        }
    }
}

/// Entry of the second vCPU, which runs until the first one ends the life.
fn second() -> ! {
    let life = LIFE.load(Ordering::Acquire);
    let memory = tactus_guest::devicetree::memory_size().unwrap_or(0);
    loop {
        abuse(Progress::again(), memory, !life);
    }
}

/// The value of an arena's word outside the page.
const fn pattern(at: usize) -> u64 {
    0x7a6e_5ca1_ab1e_0000 | at as u64
}

fn call(function: usize, argument: u64) -> isize {
    let arguments = [argument as usize, 0, 0, 0, 0, 0];
    // SAFETY: the hypervisor may write afterwards only to an arena, which consists of atomics.
    unsafe { sbi::call_raw(hypercall::EXTENSION, function, arguments) }.error
}

fn abuse(progress: Progress, memory: u64, seed: u64) {
    let arena = &ARENAS[start::hart()].0;
    for (at, word) in arena.iter().enumerate() {
        word.store(pattern(at), Ordering::Relaxed);
    }
    trap::on_timer(|| {});
    trap::on_software(|| {});
    trap::enable_interrupts();
    let mut random = Random::new(seed);
    let mut page: Option<usize> = None;
    let end = map::RAM_BASE + memory;
    let wrong = [
        8,
        64,
        map::PLIC_BASE,
        map::DOORBELL_BASE,
        map::CHANNEL_BASE,
        map::RAM_BASE - 64,
        end,
        end + memory,
        end - 32,
        u64::MAX - 63,
        arena.as_ptr() as u64 + 1,
        arena.as_ptr() as u64 + 32,
    ];
    for _ in 0..STEPS {
        let slot = random.next() as usize % SLOTS;
        let here = page.map(|page| &arena[page * WORDS..][..WORDS]);
        match random.next() % 12 {
            0 => {
                move_to(progress, arena, &mut page, Some(slot));
            }
            1 => move_to(progress, arena, &mut page, None),
            2 => {
                let address = random.choose(&wrong);
                if call(hypercall::INTERRUPT_PAGE, address) != INVALID_ADDRESS {
                    progress.breach(format_args!("a page at {address:#x} is not refused"));
                }
            }
            3 => {
                let any = random.next();
                let source = random.choose(&[0, 1, 10, 62, 63, 64, 96, u64::MAX, any]);
                let answer = call(hypercall::INTERRUPT_END, source);
                let right = (1..=u64::from(map::PASSTHROUGH_SOURCE_MAX)).contains(&source);
                if answer != if right { 0 } else { INVALID_PARAM } {
                    progress.breach(format_args!("the end of {source} is answered {answer}"));
                }
            }
            4 => {
                let _ = sbi::send_ipi(HartMask::ALL);
            }
            5 => {
                let ticks = random.next() % 200;
                // The interrupt is not taken before the wait.
                trap::without_interrupts(|| {
                    time::set_deadline(time::now() + ticks);
                    trap::wait_for_interrupt();
                });
            }
            6 => {
                // SAFETY: the runtime's handler takes the interrupt.
                unsafe { csr::set::<{ csr::SIP }>(csr::INTERRUPT_SOFTWARE) };
            }
            7 => {
                // All or none are pending and enabled.
                for word in here.unwrap_or_default() {
                    word.store(random.choose(&[0, u64::MAX]), Ordering::Relaxed);
                }
            }
            8 => unchanged(progress, arena, page),
            _ => {
                if let Some(words) = here {
                    words[slot % WORDS].store(random.next(), Ordering::Relaxed);
                }
            }
        }
    }
    move_to(progress, arena, &mut page, None);
    trap::disable_interrupts();
}

/// Moves the page. The hypervisor writes no more to its previous place.
fn move_to(progress: Progress, arena: &[AtomicU64], page: &mut Option<usize>, slot: Option<usize>) {
    let address = slot.map_or(0, |slot| arena[slot * WORDS..].as_ptr() as u64);
    if call(hypercall::INTERRUPT_PAGE, address) != 0 {
        progress.breach(format_args!("a page at {address:#x} is refused"));
    }
    if let Some(old) = core::mem::replace(page, slot)
        && slot != Some(old)
    {
        for (at, word) in arena.iter().enumerate().skip(old * WORDS).take(WORDS) {
            word.store(pattern(at), Ordering::Relaxed);
        }
    }
}

fn unchanged(progress: Progress, arena: &[AtomicU64], page: Option<usize>) {
    for (at, word) in arena.iter().enumerate() {
        if page != Some(at / WORDS) && word.load(Ordering::Relaxed) != pattern(at) {
            progress.breach(format_args!(
                "word {at} is written to, the page is {page:?}"
            ));
        }
    }
}

/// Verifies that a correctly used page delivers the peer's doorbells.
fn hear(channel: Channel) -> Result<(), &'static str> {
    interrupts::use_page().map_err(|_| "a page is refused in the end")?;
    trap::on_external(|_| {
        DOORBELLS.fetch_add(1, Ordering::Relaxed);
    });
    trap::on_timer(|| {});
    channel.enable_interrupt(1);
    trap::enable_interrupts();
    let end = time::now() + time::hz();
    while DOORBELLS.load(Ordering::Relaxed) < 10 && time::now() < end {
        trap::without_interrupts(|| {
            time::set_deadline(time::now() + time::hz() / 1000);
            trap::wait_for_interrupt();
        });
    }
    trap::disable_interrupts();
    if DOORBELLS.load(Ordering::Relaxed) < 10 {
        return Err("the doorbell is not heard by a page");
    }
    interrupts::use_controller().map_err(|_| "a page is not taken back")
}
