//! Shows what the VM at the other end of each of its channels writes to a virtio console, on its own console: lines,
//! each with a name in front; and gives one of them what is typed there.
//!
//! Boot arguments: `nameN` is the name of the console of channel N (default: the number). Ctrl-A and a digit choose
//! whom what is typed is for, at first the console of channel 0.
//!
//! Text waits in the channel's memory, which outlives this VM: two rings behind the device's registers.
#![no_std]
#![no_main]

mod terminal;

use tactus_guest::call::{self, Message, Stack};
use tactus_guest::channel::Channel;
use tactus_guest::{devicetree, record, sbi, time};
use tactus_guest_virtio_service::Devices;
use tactus_virtio::console::Console;
use tactus_virtio::lines::{Name, Typed, Typing};
use tactus_virtio::memory::Window;
use tactus_virtio::text::{Ring, SIZE};

use terminal::{Screen, Terminal};

tactus_guest::entry!(main);

/// Consoles of this VM, at most.
const CONSOLES: usize = 8;
/// Names of the boot arguments of each, and what each is called without.
const NAMES: [(&str, &str); CONSOLES] = [
    ("name0", "0"),
    ("name1", "1"),
    ("name2", "2"),
    ("name3", "3"),
    ("name4", "4"),
    ("name5", "5"),
    ("name6", "6"),
    ("name7", "7"),
];
/// Where the rings are in a channel's memory.
const OUTPUT: usize = 1024;
const INPUT: usize = OUTPUT + SIZE;

static DEVICES: Devices<Console, CONSOLES> = Devices::new();
static STACK: Stack<16384> = Stack::new();

fn main() {
    let mut screen = Screen::new();
    let mut terminals: [_; CONSOLES] = core::array::from_fn(|number| {
        let channel = Channel::find(number)?;
        let [output, input] = rings(channel);
        Some(Terminal::new(name(number), output, input, channel))
    });
    DEVICES.make(|_, channel| {
        let [output, input] = rings(channel);
        let device = Console::new(output, input, time::now, time::hz())?;
        Some((device, channel.words()))
    });
    let count = terminals.iter().flatten().count();
    for (number, terminal) in terminals.iter().flatten().enumerate() {
        let others = terminals.iter().flatten().skip(number + 1);
        if others
            .map(Terminal::name)
            .any(|name| name == terminal.name())
        {
            record::give_up("two consoles have one name");
        }
    }
    if terminals.iter().flatten().any(Terminal::was_used) {
        screen.say_again();
    }
    if call::serve(serve, &STACK).is_err() {
        record::give_up("no VM has a device here");
    }
    let mut is_resumed = false;
    let mut typing = Typing::default();
    loop {
        is_resumed = is_resumed || DEVICES.resume();
        let mut is_idle = true;
        let mut typed = [0; 8];
        while let Ok(length @ 1..) = sbi::console_read(&mut typed) {
            is_idle = false;
            for byte in typed.iter().take(length) {
                type_in(&terminals, typing.push(*byte, count), &mut screen);
            }
        }
        for terminal in terminals.iter_mut().flatten() {
            is_idle &= !terminal.show_line(&mut screen);
        }
        if is_idle {
            screen.wait();
        }
    }
}

/// Gives a console what was typed for it, or says which one gets what follows.
fn type_in(terminals: &[Option<Terminal>], typed: Typed, screen: &mut Screen) {
    let terminal = |number: usize| terminals.get(number).and_then(Option::as_ref);
    match typed {
        Typed::Byte(to, byte) => {
            if let Some(terminal) = terminal(to) {
                terminal.type_in(byte);
            }
        }
        Typed::Selected(to) => {
            if let Some(terminal) = terminal(to) {
                screen.say(terminal.name());
            }
        }
        Typed::Nothing => {}
    }
}

/// What the console has written, and what is typed for it: where a channel is too small they are not whole.
fn rings(channel: Channel) -> [Ring<Window>; 2] {
    let words = channel.words();
    // SAFETY: the channel's memory, behind the words of the registers, which is used by windows only.
    let memory = unsafe { Window::new(words.as_ptr() as usize, size_of_val(words), 0) };
    [OUTPUT, INPUT].map(|at| Ring::new(memory.part(at, SIZE)))
}

fn name(number: usize) -> Name<'static> {
    let (argument, default) = NAMES[number];
    let name = devicetree::argument(argument).unwrap_or(default);
    Name::new(name)
        .unwrap_or_else(|| record::give_up("a name must be 1 to 16 letters, digits, - or _"))
}

fn serve(channel: usize, message: Message) -> Message {
    DEVICES.serve(channel, message)
}
