//! The integer mix as a program for a machine without firmware or operating system.
//!
//! All harts enter at the first byte in machine mode. The first `harts` of them each do
//! `rounds` rounds on data of their own, and count their instructions (`minstret`) from before the first
//! round to behind the last. The last one to finish prints the figures on the 16550 and ends the machine through
//! the finisher. The tool that runs the file sets the parameters in it first, at the symbol `board_mix_parameters`.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod machine;

#[cfg(not(target_os = "none"))]
fn main() {}
