//! Gives random bytes to the VM at the other end of each of its channels, by a virtio entropy device.
//!
//! The boot argument `seed=`, 64 hexadecimal digits, is the seed of all of them, and is needed. It is overwritten when
//! it was read. Each channel has a generator of its own ([`tactus_virtio::entropy`]). A life of this VM has other bytes
//! than the ones before it, as it begins at another time, which it reports: `life`.
#![no_std]
#![no_main]

use tactus_guest::call::{Message, Stack};
use tactus_guest::{devicetree, emulation, record, time};
use tactus_guest_virtio_service::Devices;
use tactus_virtio::entropy::{self, Entropy, Generator};

tactus_guest::entry!(main);

/// Devices of this VM, at most.
const DEVICES_MAX: usize = 8;

static DEVICES: Devices<Entropy, DEVICES_MAX> = Devices::new();
static STACK: Stack<16384> = Stack::new();

fn main() {
    begin();
    // Keys of the generators as they began.
    entropy::wipe_stack();
    emulation::run(serve, &STACK)
}

/// Makes the devices.
#[inline(never)]
fn begin() {
    let Some(mut seed) = take_seed() else {
        record::give_up("the boot argument seed= must be 64 hexadecimal digits");
    };
    let life = time::now();
    record::metric("life", life, "ticks");
    let mut generator = Generator::new(&seed, life);
    entropy::wipe(&mut seed);
    DEVICES.make(|_, channel| Some((Entropy::new(generator.split()), channel.words())));
}

/// The seed, which is no longer among the boot arguments then.
fn take_seed() -> Option<[u8; entropy::KEY]> {
    let digits = devicetree::argument("seed")?;
    let seed = entropy::seed(digits)?;
    for at in 0..digits.len() {
        let digit = (digits.as_ptr() as usize + at) as *mut u8;
        // SAFETY: the devicetree is memory of this VM, of which nothing reads these bytes any more. They stay text.
        unsafe { digit.write_volatile(b'0') };
    }
    Some(seed)
}

fn serve(channel: usize, message: Message) -> Message {
    DEVICES.serve(channel, message)
}
