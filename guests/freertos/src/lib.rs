//! To be written.
#![no_std]
