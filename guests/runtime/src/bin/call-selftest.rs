//! Calls between VMs. `role=caller`: calls the VM behind its channel 0 in every way, as `systems/calls.toml` has it;
//! `role=spender ticks=N`: has that VM spend so many ticks of its time, again and again, for ever;
//! `role=server`: does what its callers ask of it, and has faults where they ask for that; `role=last`: adds one.
#![no_std]
#![no_main]

use core::arch::asm;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

use tactus_guest::call::{self, CallError, Message, Stack};
use tactus_guest::{devicetree, record, sbi, start, time, trap};

tactus_guest::entry!(main);

/// Rounds of calls that are replied to.
const ROUNDS: u64 = 20_000;
/// A VM that has faulted serves again within this time.
const RESTART: Duration = Duration::from_millis(200);

/// What a message asks for.
mod wish {
    /// Each word, and one.
    pub const ADD: u64 = 0;
    /// The number of its channel to the caller.
    pub const CHANNEL: u64 = 1;
    /// Another call than a call of a VM.
    pub const OTHER_CALL: u64 = 2;
    /// A call of the last VM.
    pub const FURTHER: u64 = 3;
    /// A call by a channel that has none.
    pub const NO_CHANNEL: u64 = 4;
    /// How often it has been asked, in this life.
    pub const COUNT: u64 = 5;
    /// As many ticks of time as the second word says.
    pub const SPEND: u64 = 6;
    /// From here on it is a fault: never an end.
    pub const NEVER: u64 = 7;
    /// Waiting.
    pub const WAIT: u64 = 8;
    /// A store where there is no memory.
    pub const OUTSIDE: u64 = 9;
    /// An instruction that is none.
    pub const ILLEGAL: u64 = 10;
    /// Floating point.
    pub const FLOAT: u64 = 11;
    /// As many.
    pub const ALL: u64 = 12;
}

static STACK: Stack = Stack::new();
static COUNT: AtomicU64 = AtomicU64::new(0);

fn main() {
    let role = devicetree::argument("role");
    match role {
        Some("caller") => check(),
        Some("spender") => spend(devicetree::number("ticks", 1)),
        Some("server") => wait(serve),
        Some("last") => wait(|_, message| message.map(|word| word.wrapping_add(1))),
        _ => record::give_up("which role?"),
    }
    record::pass(start::program());
}

/// Serves for ever.
fn wait(serve: call::Serve) -> ! {
    if call::serve(serve, &STACK).is_err() {
        record::give_up("the VM may not serve");
    }
    loop {
        trap::wait_for_interrupt();
    }
}

fn serve(channel: usize, message: Message) -> Message {
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut reply = message.map(|word| word.wrapping_add(1));
    match message[0] {
        wish::ADD => {}
        wish::CHANNEL => reply[0] = channel as u64,
        wish::OTHER_CALL => {
            reply[0] = u64::from(sbi::hart_status(0) == Err(sbi::Error::NotSupported))
        }
        wish::FURTHER => match call::call(1, message) {
            Ok(further) => reply = further.map(|word| word.wrapping_add(1)),
            Err(_) => reply[0] = u64::MAX,
        },
        wish::NO_CHANNEL => {
            let refused = Err(CallError::Call(sbi::Error::InvalidParam));
            let all = [0, 2, usize::MAX].map(|channel| call::call(channel, message) == refused);
            reply[0] = u64::from(all == [true; 3]);
        }
        wish::COUNT => reply[0] = count,
        wish::SPEND => time::busy_wait(message[1]),
        wish::NEVER => loop {
            core::hint::spin_loop();
        },
        // SAFETY: the VM has a fault by it.
        wish::WAIT => unsafe { asm!("wfi") },
        // SAFETY: as above.
        wish::OUTSIDE => unsafe { (0x40 as *mut u64).write_volatile(1) },
        // SAFETY: as above.
        wish::ILLEGAL => unsafe { asm!("unimp") },
        // SAFETY: as above.
        wish::FLOAT => unsafe { asm!("fmv.d.x f0, x0", out("f0") _) },
        _ => reply[0] = u64::MAX,
    }
    reply
}

fn spend(ticks: u64) -> ! {
    when_it_serves("the server never serves");
    loop {
        expect(
            "a call that takes time",
            call::call(0, [wish::SPEND, ticks, 0, 0, 0, 0, 0, 0]).is_ok(),
        );
    }
}

fn expect(what: &str, good: bool) {
    if !good {
        record::give_up(what);
    }
}

/// A message that asks for that.
const fn ask(wish: u64) -> Message {
    [wish, 2, 3, 4, 5, 6, 7, 8]
}

/// Calls until the VM serves.
fn when_it_serves(what: &str) -> Message {
    let end = time::now() + time::ticks(RESTART);
    loop {
        match call::call(0, ask(wish::COUNT)) {
            Ok(reply) => return reply,
            Err(CallError::Closed) if time::now() < end => core::hint::spin_loop(),
            Err(_) => record::give_up(what),
        }
    }
}

fn check() {
    when_it_serves("the server never serves");
    // Floating point is the caller's own before, and after.
    let before = core::hint::black_box(1.5f64);
    for round in 0..ROUNDS {
        let message = [wish::ADD, round, 3, 4, 5, 6, u64::MAX, 8];
        let reply = call::call(0, message);
        expect(
            "a call has another reply",
            reply == Ok(message.map(|word| word.wrapping_add(1))),
        );
    }
    expect(
        "the floating-point registers are others",
        core::hint::black_box(before) * 2.0 == 3.0,
    );
    let replied = |wish| call::call(0, ask(wish)).map(|[first, ..]| first);
    expect("the channel's number", replied(wish::CHANNEL) == Ok(0));
    expect(
        "another call within a call",
        replied(wish::OTHER_CALL) == Ok(1),
    );
    expect(
        "a call within a call",
        call::call(0, ask(wish::FURTHER)) == Ok(ask(wish::FURTHER).map(|word| word + 2)),
    );
    expect(
        "a call within a call by no channel",
        replied(wish::NO_CHANNEL) == Ok(1),
    );
    let refused = Err(CallError::Call(sbi::Error::InvalidParam));
    for channel in [1, 31, 32, 1 << 32, usize::MAX] {
        expect(
            "a call by no channel",
            call::call(channel, ask(wish::ADD)) == refused,
        );
    }
    expect(
        "it may not serve",
        call::serve(serve, &STACK) == Err(sbi::Error::Denied),
    );
    for wish in wish::NEVER..wish::ALL {
        expect(
            "a fault within a call",
            call::call(0, ask(wish)) == Err(CallError::Failed),
        );
        expect(
            "a call after a fault",
            call::call(0, ask(wish::ADD)) == Err(CallError::Closed),
        );
        let [count, ..] = when_it_serves("the server does not serve again");
        expect("the server is the same as before", count < 2);
    }
    record::metric("calls", ROUNDS, "count");
}
