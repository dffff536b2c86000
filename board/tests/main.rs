//! The library's public tests, without those of its fabric, floating-point and privileged architecture.
//!
//! Those are programs of their own. These are one program, so that the library is linked once.
//! `cargo test -p tactus-board --test suite gdb_server::` runs those of a file.

#[path = "../examples/assembler/mod.rs"]
mod assembler;
mod devices_devicetree;
mod devices_fuzz;
mod devices_harness;
mod devices_pci;
mod devices_virt;
mod devices_virtio;
mod differential;
mod examples;
mod gdb_harness;
mod gdb_server;
mod isa;
mod oracle;
mod pci_board;
mod profile;
mod profile_docs;
mod properties;
mod robust;
mod robust_cases;
mod snapshot_copy;
mod timing_blocks;
mod timing_caches;
mod timing_memory;
mod timing_onchip;
mod timing_pipeline;
mod timing_prediction;
mod timing_reloads;
mod timing_state;
mod timing_translation;
mod timing_wakes;
mod timing_worst;
mod undisturbed;
mod weak_memory;
