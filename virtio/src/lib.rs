//! The device side of virtio 1.2, for VMs that emulate devices for others: no allocation, no waiting, and a bounded
//! number of steps for each access of a driver, whatever that does.
//!
//! | module | contents | specification |
//! |---|---|---|
//! | [`memory`] | a driver's memory, as far as the device has it | |
//! | [`queue`] | split virtqueues | 2.7 |
//! | [`mmio`] | the registers of a device | 4.2 |
//! | [`block`] | a block device | 5.2 |
//! | [`passed`] | one before a part of a disk that the service VM has | |
//! | [`gpt`] | partitions of that disk | |
//! | [`function`] | a virtio PCI function that the service VM has | 4.1 |
//! | [`requester`] | the driver's side of its queues | 2.7 |
//! | [`disk`] | what is behind that: an image, and the blocks that were written | |
//! | [`switch`] | a network switch, and the network cards of its ports | 5.1 |
//! | [`uplink`] | a network card that the service VM has, by which its ports reach others | 5.1 |
//! | [`capture`] | a recording of what its ports send and receive | |
//! | [`console`] | a console | 5.3 |
//! | [`text`] | its text that waits, in rings | |
//! | [`lines`] | the lines of several consoles on one | |
//! | [`entropy`] | an entropy device, and its generator of random bytes | 5.4 |
//!
//! **A device touches its driver's memory only while the driver's access is served.** A driver's VM that ends and
//! starts again so finds no device that goes on with what its predecessor asked for; and each driver pays, with its own
//! time, for all that is copied into and out of its memory. The exception is [`mmio::Port::resume`]: a console that
//! begins again serves one request of each queue at once, as Linux waits for it in a loop and makes no access.
//!
//! **A device that restarts goes on.** It serves a queue in order and completes each request before the next, so that
//! the used ring's index, which is in the driver's memory, says all about a queue that is not in the registers; and
//! those are kept in memory that outlives it ([`mmio::Saved`]). A request that was in progress is done again: what it
//! did before is overwritten by the same.
#![cfg_attr(not(test), no_std)]

pub mod block;
pub mod capture;
pub mod console;
pub mod disk;
pub mod entropy;
pub mod function;
pub mod gpt;
pub mod lines;
pub mod memory;
pub mod mmio;
pub mod passed;
pub mod queue;
pub mod requester;
pub mod switch;
pub mod text;
pub mod uplink;
