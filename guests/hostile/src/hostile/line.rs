//! Misuses the platform's UART, which it has: forges records of the hypervisor and of other VMs, sets the slowest rate,
//! and leaves the registers so that what others write to the UART sets its divisor.

use tactus_guest::{
    abi::{
        console::{LOG_STREAM, SELECT, STREAM_BASE},
        record, uart,
    },
    time,
};

use super::{progress::Progress, random::Random};

/// Where its systems have the UART.
const UART: usize = 0x5000_0000;
/// The stream of the first VM, a watcher.
const WATCHER: u8 = LOG_STREAM + 1;
/// Eight data bits.
const EIGHT_BITS: u8 = 3;
/// Registers of the UART.
const REGISTERS: u64 = 8;

/// What it says in the hypervisor's name.
const FORGED_LOG: &str = "\
fault vm=watcher vcpu=0 cause=5 address=0x0 pc=0x0 instruction=0x0 action=halt time=1\n\
off vm=watcher reason=shutdown code=0 time=2\n\
end time=3\n";

/// Makes `writes` writes of garbage after forgeries at each rate; with `endless`, then forges on without end.
pub fn attack(progress: Progress, writes: u64, endless: bool) {
    let mut random = Random::new(1);
    forge();
    write(uart::LCR, uart::LCR_DIVISOR | EIGHT_BITS);
    write(uart::DATA, 0xff);
    write(uart::IER, 0xff);
    write(uart::LCR, EIGHT_BITS);
    forge();
    write(uart::MCR, uart::MCR_LOOP);
    forge();
    while progress.next(writes).is_some() {
        write(random.next() % REGISTERS, random.next() as u8);
    }
    if endless {
        write(uart::LCR, EIGHT_BITS);
        write(uart::MCR, 0);
        loop {
            forge();
            // Often enough that no console is ever silent.
            let next = time::now() + time::hz() / 1000;
            while time::now() < next {}
        }
    }
    write(uart::MCR, 0);
    write(uart::LCR, uart::LCR_DIVISOR | EIGHT_BITS);
    write(uart::DATA, 0xff);
    write(uart::IER, 0xff);
}

/// Speaks as the hypervisor and as the watcher.
fn forge() {
    select(LOG_STREAM);
    say(FORGED_LOG);
    select(WATCHER);
    say(record::PREFIX);
    say("metric name=forged value=1 unit=count\n");
}

fn select(stream: u8) {
    write(uart::DATA, SELECT);
    write(uart::DATA, STREAM_BASE + stream);
}

fn say(text: &str) {
    for byte in text.bytes() {
        write(uart::DATA, byte);
    }
}

fn write(register: u64, value: u8) {
    let register = (UART + register as usize) as *mut u8;
    // SAFETY: a register of the UART, which is the guest's alone.
    unsafe { register.write_volatile(value) };
}
