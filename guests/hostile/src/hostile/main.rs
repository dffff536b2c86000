//! A guest that attacks the hypervisor, by the method that `attack=NAME` in its boot arguments selects.
//!
//! | attack | what it does | further arguments |
//! |---|---|---|
//! | `touch` | loads from, stores to and jumps to every address that is not its own | |
//! | `paging` | does so through its own page tables, puts them into foreign memory, garbage to `satp` | `garbage=N` |
//! | `instructions` (6 MiB of memory) | executes every privileged and undefined instruction | `randoms=N` |
//! | `sbi` | calls every SBI function with extreme arguments | |
//! | `timer` | programs its timer to 0 and infinity without pause | `ms=N` |
//! | `flood` | floods hypercalls, doorbells, IPIs, fences | `ms=N` |
//! | `spin` | never yields | `ms=N` |
//! | `jump` | jumps into data and devices | `randoms=N` |
//! | `handler` | faults in its own trap handler | `lives=N`, `way=N`: only that one, once |
//! | `mmio` | writes garbage to each register of its devices | `offsets=N` |
//! | `accelerator` | garbage to a virtual device's registers, with restarts | `task=N`, `offsets=N`, `rounds=N` |
//! | `afterlife` | restarts itself during computations of an accelerator, `qam16` | `lives=N` |
//! | `io` | garbage to its I/O port and timed I/O, arbitrary requests, with restarts | `offsets=N`, `rounds=N` |
//! | `line` | forges what others write to the platform's UART, which it has, and silences them | `writes=N`, `endless=1` |
//! | `code` | rewrites its own code | `ms=N` |
//! | `reboot` | restarts itself without pause, checks for remains | `lives=N` |
//! | `reserve` | creates, changes and deletes real-time vCPUs of every kind | `rounds=N` |
//! | `ring` | writes arbitrary data into a channel's memory, sends messages in every way | `lives=N` |
//! | `levels` | runs user programs that enter the kernel in every way, on all vCPUs | `ms=N` |
//! | `counters` | reads every counter to learn what others do | |
//! | `page` | writes arbitrary data into its interrupt page, and moves it anywhere | `lives=N` |
//! | `dwindle` | changes its own reservation to almost nothing, and faults | `lives=N` |
//! | `frontend` | drives the virtio devices that other VMs emulate for it in every wrong way | `steps=N` |
//! | `backend` | emulates a device for another VM as badly as it can | `steps=N` |
//! | `teardown` | ends while its other vCPU is busy | `rounds=N` |
//!
//! It counts its steps in channel 0's memory, so that it continues there after a restart. After the last step it
//! reports `pass` and powers off. When an access that must be refused succeeds, it reports `fail` and the access.
#![no_std]
#![no_main]

mod accelerator;
mod afterlife;
mod arena;
mod backend;
mod code;
mod counters;
mod dwindle;
mod frontend;
mod handler;
mod instructions;
mod io;
mod levels;
mod line;
mod mmio;
mod overload;
mod page;
mod paging;
mod probe;
mod progress;
mod reboot;
mod reserve;
mod ring;
mod sbi;
mod teardown;
mod touch;

use progress::Progress;
use tactus_guest::{devicetree, println, time};
use tactus_guest_hostile::random;

tactus_guest::entry!(main);

fn main() {
    let attack = devicetree::argument("attack").unwrap_or("");
    let progress = Progress::new();
    let memory = devicetree::memory_size().unwrap_or(0);
    assert!(memory >= 4 << 20, "the hostile guest needs 4 MiB of memory");
    let number = devicetree::number;
    let ticks = number("ms", 300) * time::hz() / 1000;
    if progress.boots() == 1 {
        println!("attack={attack} with {memory:#x} bytes of memory");
    }
    match attack {
        "touch" => touch::attack(progress, memory),
        "paging" => paging::attack(progress, memory, number("garbage", 100)),
        "instructions" => instructions::attack(progress, number("randoms", 20_000)),
        "sbi" => sbi::attack(progress, memory),
        "timer" => overload::timer(progress, ticks),
        "flood" => overload::flood(progress, ticks),
        "spin" => overload::spin(progress, ticks),
        "jump" => handler::jump(progress, memory, number("randoms", 300)),
        "handler" => match devicetree::argument("way") {
            Some(_) => {
                handler::fault(number("way", 0), memory);
                progress.breach("the fault in the handler went on");
            }
            None => handler::attack(progress, memory, number("lives", 10)),
        },
        "mmio" => mmio::attack(progress, number("offsets", 200)),
        "accelerator" => {
            let (task, offsets) = (number("task", 2), number("offsets", 200));
            accelerator::attack(progress, task, offsets, number("rounds", 1));
        }
        "afterlife" => afterlife::attack(progress, number("lives", 30)),
        "io" => io::attack(progress, number("offsets", 100), number("rounds", 1)),
        "code" => code::attack(progress, ticks),
        "reboot" => reboot::attack(progress, memory, number("lives", 60)),
        "reserve" => reserve::attack(progress, number("rounds", 40)),
        "ring" => ring::attack(progress, number("lives", 30)),
        "levels" => levels::attack(progress, ticks),
        "line" => line::attack(progress, number("writes", 2000), number("endless", 0) != 0),
        "counters" => counters::attack(progress),
        "page" => page::attack(progress, memory, number("lives", 30)),
        "dwindle" => dwindle::attack(progress, number("lives", 10)),
        "frontend" => frontend::attack(progress, number("steps", 5_000)),
        "backend" => backend::attack(progress, number("steps", 2_000)),
        "teardown" => teardown::attack(progress, number("rounds", 1)),
        other => panic!("there is no attack \"{other}\""),
    }
    progress.done(attack);
}
