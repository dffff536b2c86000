//! A guest that makes noise for a real-time guest on another hart, as fast as it can and without end.
//!
//! | `noise=NAME` | what it does |
//! |---|---|
//! | `none` | sleeps |
//! | `ring` | rings the doorbells of all its channels by stores; with `channel=N` only that one |
//! | `notify` | rings them by hypercalls |
//! | `reserve` | creates, changes and deletes real-time vCPUs |
//! | `end` | completes the interrupt of the real-time clock, whose line stays up, by calls |
//! | `complete` | completes it by the virtual PLIC |
//! | `sweep` | reads its memory, `mib=N` (2) from its beginning on, a word each `stride=N` (32) bytes |
//! | `write` | the same, and writes the words; at most the 2 MiB below its image |
//! | `disk` | has its disk, a PCI function in slot 1, read into `mib=N` (2) from the beginning of its memory on, `kib=N` (64) at a time |
//! | `toggle` | enables and disables an interrupt that is pending for the sleeping vCPU: its virtual UART's, which can always send |
//!
//! Its vCPU 1 sleeps; vCPUs from 2 on make the same noise as vCPU 0. Its system is
//! `systems/interference.toml`.
#![no_std]
#![no_main]

use core::arch::naked_asm;
use core::sync::atomic::{AtomicU64, Ordering};

use tactus_guest::{
    abi::{
        hypercall::{EXTENSION, INTERRUPT_END, RT_CHANGE, RT_CREATE, RT_DELETE},
        map,
    },
    channel::Channel,
    devicetree, interrupts,
    plic::Plic,
    sbi, start, time, trap,
};
use tactus_guest_hostile::disk::{Disk, READ};

tactus_guest::entry!(main);

/// Channels that it rings at most.
const CHANNELS_MAX: usize = 4;

/// The goldfish real-time clock of `virt`: its address, its interrupt, and registers of its alarm.
const RTC_BASE: usize = 0x10_1000;
const RTC_SOURCE: u32 = 11;
const RTC_ALARM_LOW: usize = 0x08;
const RTC_ALARM_HIGH: usize = 0x0c;
const RTC_IRQ_ENABLED: usize = 0x10;

/// Interrupt enable register of a 16550, and its bit for "can send".
const UART_IER: usize = 1;
const CAN_SEND: u8 = 2;

fn main() {
    start::start_hart(1, sleep).expect("the system gives it a second vCPU");
    for vcpu in 2..start::HARTS_MAX {
        // Only some systems give it more.
        if start::start_hart(vcpu, make).is_err() {
            break;
        }
    }
    make();
}

/// Makes the noise, without end.
fn make() -> ! {
    match devicetree::argument("noise").unwrap_or("") {
        "none" => sleep(),
        "ring" => every_channel(Channel::ring),
        // Any answer is accepted: only the load of the calls counts.
        "notify" => every_channel(|channel| {
            let _ = channel.notify();
        }),
        "reserve" => reserve(),
        "end" => {
            interrupts::use_page().expect("Tactus has interrupt pages");
            raise_alarm();
            loop {
                call(INTERRUPT_END, [RTC_SOURCE as usize, 0, 0, 0, 0, 0]);
            }
        }
        "complete" => {
            raise_alarm();
            let plic = Plic::of_hart(0);
            loop {
                if let Some(source) = plic.claim() {
                    plic.complete(source);
                }
            }
        }
        "sweep" => sweep(|word| word.load(Ordering::Relaxed)),
        "write" => sweep(|word| word.fetch_add(1, Ordering::Relaxed)),
        "disk" => read_disk(),
        "toggle" => {
            let enable = (map::UART_BASE as usize + UART_IER) as *mut u8;
            // SAFETY: a register of the virtual UART, which only the console uses, and not this one.
            unsafe { enable.write_volatile(CAN_SEND) };
            let sleeping = Plic::of_hart(1);
            loop {
                sleeping.enable(map::UART_SOURCE, 1);
                sleeping.disable(map::UART_SOURCE);
            }
        }
        other => panic!("there is no noise \"{other}\""),
    }
}

fn call(function: usize, arguments: [usize; 6]) -> sbi::Answer {
    // SAFETY: these calls change no memory that Rust knows of.
    unsafe { sbi::call_raw(EXTENSION, function as _, arguments) }
}

fn every_channel(ring: impl Fn(Channel)) -> ! {
    let only = devicetree::number("channel", u64::MAX);
    let channels: [Option<Channel>; CHANNELS_MAX] = core::array::from_fn(|number| {
        Channel::find(number).filter(|_| only == u64::MAX || only == number as u64)
    });
    let channels = channels.iter().flatten();
    assert!(channels.clone().count() > 0, "it has a channel");
    loop {
        channels.clone().for_each(|channel| ring(*channel));
    }
}

/// Goes through memory without end.
fn sweep(at: impl Fn(&AtomicU64) -> u64) -> ! {
    let size = devicetree::number("mib", 2) << 20;
    let stride = devicetree::number("stride", 32);
    loop {
        for offset in (0..size).step_by(stride as usize) {
            let word = (map::RAM_BASE + offset) as *const AtomicU64;
            // SAFETY: aligned, and within the VM's memory; what is written is below the image, where nothing else is.
            at(unsafe { &*word });
        }
    }
}

/// Has the disk read without end, one request after the other, into the memory below the image.
fn read_disk() -> ! {
    let size = devicetree::number("mib", 2) << 20;
    let piece = devicetree::number("kib", 64) << 10;
    let mut disk = Disk::find(1);
    disk.begin_well();
    loop {
        for offset in (0..size).step_by(piece as usize) {
            disk.ask(READ, map::RAM_BASE + offset, piece as u32);
            assert!(disk.answers(time::hz()), "the disk does not answer");
        }
    }
}

/// Waits for an interrupt that never arrives.
#[unsafe(naked)]
extern "C" fn doze() -> ! {
    naked_asm!("0: wfi", "   j 0b")
}

fn reserve() -> ! {
    let entry = doze as *const () as usize;
    // A ten-thousandth, and less, of a hart.
    let times = [1_000_000, 100, 1_000_000];
    let [period, budget, deadline] = times;
    loop {
        let number = call(RT_CREATE, [entry, 0, 0, period, budget, deadline]).value;
        for budget in [50, 100] {
            call(RT_CHANGE, [number, period, budget, deadline, 0, 0]);
        }
        call(RT_DELETE, [number, 0, 0, 0, 0, 0]);
    }
}

/// Sleeps.
fn sleep() -> ! {
    loop {
        trap::wait_for_interrupt();
    }
}

/// The interrupt line of the real-time clock rises, and stays up.
fn raise_alarm() {
    interrupts::enable(RTC_SOURCE, 1);
    // In this order: the time of the alarm has passed long ago.
    for (register, value) in [
        (RTC_IRQ_ENABLED, 1),
        (RTC_ALARM_HIGH, 0),
        (RTC_ALARM_LOW, 0),
    ] {
        let register = (RTC_BASE + register) as *mut u32;
        // SAFETY: a register of the clock, which the system gives to this VM.
        unsafe { register.write_volatile(value) };
    }
}
