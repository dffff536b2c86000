//! The tests that boot systems, and those that run the tool as its user does.
//!
//! They are one program, so that their common code is compiled and linked once.
//! `cargo test -p tactus --test suite hostile::` runs the tests of a file.

mod accelerators;
mod ahead;
mod attack;
mod bench_board;
mod boot;
mod calls;
mod campaign;
mod check;
mod colours;
mod counters;
mod debian;
mod distribution;
mod emulation;
mod fences;
mod figure6;
mod freertos;
mod gdb;
mod guests;
mod harness;
mod hostile;
mod hypervisor_layout;
mod interference;
mod io;
mod ivshmem;
mod leak;
mod line;
mod linux;
mod live;
mod machine;
mod management;
mod manycore;
mod modes;
mod network;
mod new;
mod onchip;
mod own_guests;
mod page;
mod paths;
mod pci;
mod progress;
mod ready_queue;
mod refusal;
mod release;
mod rt;
mod run_command;
mod separation;
mod spumone;
mod storm;
mod sweep;
mod systems;
mod tasks;
mod thread_metric;
mod warm;
