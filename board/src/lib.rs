//! The virtual board: RISC-V harts, memory and devices that run the images of the real platform cycle by cycle
//! and the same way every time.
//!
//! A [`Profile`](profile::Profile) says what a board has and what everything costs; [`setup::board`] makes that
//! [`Board`](board::Board), and [`setup::boot`] puts firmware, kernel and devicetree into it. Then
//! [`Board::run`](board::Board::run) lets it run until a time, or until the software ends the run. Between runs all
//! state can be read and written, saved and taken back.
//!
//! ```
//! use tactus_board::board::{Outcome, Pace};
//! use tactus_board::bus::Stop;
//! use tactus_board::profile::Profile;
//! use tactus_board::setup::{self, Options, Software};
//! use tactus_board::time::Femtoseconds;
//!
//! // A board of a profile that comes with the crate.
//! let profile = Profile::named("soc").expect("it comes with the crate");
//! let options = Options { harts: Some(1), memory: Some(16 << 20), ..Options::default() };
//! let (mut board, console) = setup::board(&profile, &options, Vec::new())?;
//!
//! // A program: an ELF file, or bytes for the start of memory, where the harts start in M-mode.
//! let program: [u32; 8] = [
//!     0x0060_0513, // li   a0, 6
//!     0x0070_0593, // li   a1, 7
//!     0x02b5_0533, // mul  a0, a0, a1
//!     0x0010_02b7, // lui  t0, 0x100     the finisher is at 0x10_0000
//!     0x0000_5337, // lui  t1, 0x5
//!     0x5553_0313, // addi t1, t1, 0x555
//!     0x0062_a023, // sw   t1, 0(t0)     which powers the board off
//!     0x0000_006f, // j    .
//! ];
//! let program = program.map(u32::to_le_bytes).concat();
//! setup::boot(&mut board, &profile, &Software { firmware: &program, ..Software::default() })?;
//!
//! // All costs on, for a second of virtual time at most.
//! board.set_pace(Pace::Timed);
//! assert_eq!(board.run(Femtoseconds::SECOND), Outcome::Stop(Stop::PowerOff));
//! assert_eq!(board.x(0, 10), 42);
//! assert_eq!(board.instructions(0), 7);
//! assert!(board.cycle(0) > 7);
//! assert!(console.take_output().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where what is
//!
//! | module | what |
//! |---|---|
//! | [`setup`] | boards from profiles, software into them: where to begin |
//! | [`board`] | the board itself: build, run, read and write state, attach devices, watch |
//! | [`profile`] | profiles, and [`timing::parameters`] what they say of costs |
//! | [`bus`], [`devices`] | what a device is, and those of QEMU's `virt` |
//! | [`fabric`] | the programmable logic: what is in it, and how it is coupled |
//! | [`devicetree`] | what software is told of the board |
//! | [`time`] | femtoseconds and clocks |
//! | [`timing`] | what timed mode charges |
//! | [`trace`], [`account`] | what a run did, and what cycles went to |
//! | [`snapshot`] | all state as bytes |
//! | [`htif`] | how test suites end |
//! | [`decode`], [`float`], [`privileged`] | the instruction set: encodings, arithmetic, privileged architecture; each usable alone |
//! | [`memory`] | main memory |
//!
//! # How it runs
//!
//! Harts take turns, the one furthest behind first, so that one host thread runs them all and nothing depends on the
//! host. A hart's code is decoded once, into blocks (`code`) of ops (`op`) that call each other (`execute`); loads and
//! stores go through a cache of host pointers (`tlb`); all else takes the slow paths in `machine`, which ask
//! [`privileged`] for the rules:
//!
//! | part of `machine` | what it does |
//! |---|---|
//! | `translation` | walks page tables |
//! | `access` | loads, stores and atomics past the cache of host pointers |
//! | `reservation` | what `lr` makes and `sc` needs |
//! | `device` | accesses to devices, and their effects |
//! | `interrupt` | interrupts, traps, and stale code |
//! | `cost` | what the timed mode charges |
//! | `weak` | the order of loads and stores, by the model in `weak_memory` |
//!
//! The same handlers are compiled for each variant of the board (`pace`): the fast mode, of one cycle an instruction,
//! the timed mode, in which they charge what [`timing`] says, and both with weak memory. Ops, blocks, harts and the
//! machine name each other by type (`op`, `code`, `hart`, `machine`), as threaded code has to; no other modules form a
//! circle.

pub mod account;
pub mod board;
pub mod bus;
mod code;
pub mod decode;
pub mod devices;
pub mod devicetree;
mod execute;
pub mod fabric;
pub mod fault;
pub mod float;
pub mod gdb;
mod hart;
pub mod htif;
mod inject;
pub mod inspect;
mod machine;
pub mod memory;
mod op;
mod pace;
mod power;
pub mod privileged;
mod probe;
pub mod profile;
mod quantity;
mod random;
pub mod setup;
pub mod snapshot;
mod state;
mod stepping;
pub mod tiles;
pub mod time;
pub mod timing;
mod tlb;
pub mod trace;
mod weak_memory;
