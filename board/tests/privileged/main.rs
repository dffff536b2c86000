//! The privileged architecture, section by section.
//!
//! The tests are named by the sections of the Privileged Architecture, 20211203: `p_` for the machine and supervisor
//! chapters, `h_` for chapter 8, `sstc_` for the extension of that name.

mod cache_blocks;
mod counters;
mod csr;
mod hart;
mod instruction;
mod interrupt;
mod pmp;
mod translation;
mod trap;
