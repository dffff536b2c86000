//! [Embassy](https://embassy.dev) in a guest: an executor that sleeps in `wfi`, a time driver on `stimecmp`, and
//! doorbells as futures.
//!
//! ```ignore
//! #![no_std]
//! #![no_main]
//!
//! tactus_guest::entry!(main);
//!
//! #[embassy_executor::task]
//! async fn blink() {
//!     loop {
//!         tactus_guest::println!("tick");
//!         embassy_time::Timer::after_secs(1).await;
//!     }
//! }
//!
//! fn main() -> ! {
//!     tactus_embassy::run(|spawner| spawner.spawn(blink().expect("one is there")))
//! }
//! ```
//!
//! The timer's, the software and the external interrupts belong to this crate: a guest that uses it must not set other
//! handlers with `trap::on_timer`, `trap::on_software` and `trap::on_external`.
#![no_std]
#![cfg(target_arch = "riscv64")]

mod critical;
mod doorbell;
mod executor;
mod time;

pub use doorbell::Doorbell;
pub use executor::{Activity, activity, run};
