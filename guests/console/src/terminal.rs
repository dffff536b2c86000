//! A console as it is shown, and the screen that all are shown on: this VM's own console.

use core::fmt::{self, Write};

use tactus_guest::channel::Channel;
use tactus_guest::{sbi, time, trap};
use tactus_virtio::lines::{Line, Name};
use tactus_virtio::memory::Window;
use tactus_virtio::text::{CAPACITY, Mark, Ring};

/// How often this VM looks for text, in a second.
const LOOKS_HZ: u64 = 500;
/// A line that is not at its end, such as a prompt, is shown when nothing has followed for so many looks.
const PROMPT_LOOKS: u32 = 25;

/// This VM's console.
pub struct Screen {
    /// Ticks from one look to the next.
    pause: u64,
}

impl Screen {
    /// It is waited for by the timer.
    pub fn new() -> Self {
        // Interrupts are off: what is enabled ends a wait, and is not taken.
        trap::disable_interrupts();
        trap::on_timer(|| {});
        Self {
            pause: time::hz() / LOOKS_HZ,
        }
    }

    /// Waits until the next look.
    pub fn wait(&mut self) {
        let end = time::now() + self.pause;
        time::set_deadline(end);
        while time::now() < end {
            trap::wait_for_interrupt();
        }
        time::set_deadline(time::NEVER);
    }

    /// Says that a life of this VM has ended, maybe within a line: it is shown again, behind this one.
    pub fn say_again(&mut self) {
        let _ = writeln!(self, "\n-- shown again from here");
    }

    /// Says who gets what is typed. No console has such a line.
    pub fn say(&mut self, name: Name<'_>) {
        let _ = writeln!(self, "-- {name} gets what is typed");
    }
}

impl Write for Screen {
    /// Waits where there is no room, so that others have the hart.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            match sbi::console_write(rest) {
                Ok(0) => self.wait(),
                Ok(taken) => rest = rest.get(taken..).unwrap_or_default(),
                Err(_) => return Err(fmt::Error),
            }
        }
        Ok(())
    }
}

/// A console.
pub struct Terminal {
    name: Name<'static>,
    output: Ring<Window>,
    input: Ring<Window>,
    channel: Channel,
    line: Line,
    /// Bytes of `output` that are in `line`, or were left out.
    taken: usize,
    /// Looks since the last of them came.
    looks: u32,
}

impl Terminal {
    /// With the rings of its device.
    pub const fn new(
        name: Name<'static>,
        output: Ring<Window>,
        input: Ring<Window>,
        channel: Channel,
    ) -> Self {
        Self {
            name,
            output,
            input,
            channel,
            line: Line::new(),
            taken: 0,
            looks: 0,
        }
    }

    /// Its name.
    pub const fn name(&self) -> Name<'static> {
        self.name
    }

    /// Whether its driver has written anything before this life.
    pub fn was_used(&self) -> bool {
        self.output.was_used()
    }

    /// Its driver may read that byte. Without room, it is lost.
    pub fn type_in(&self, byte: u8) {
        if self.input.room() > 0 {
            self.input.write(&[byte], Mark::default());
            self.channel.ring();
        }
    }

    /// Shows a line, if there is one. Returns whether there may be another one.
    pub fn show_line(&mut self, screen: &mut Screen) -> bool {
        let mut bytes = [0; 64];
        loop {
            let count = self.output.peek(self.taken, &mut bytes);
            for byte in bytes.iter().take(count) {
                self.taken += 1;
                if self.line.push(*byte) {
                    self.show(screen);
                    return true;
                }
            }
            if count == 0 {
                break;
            }
            self.looks = 0;
        }
        self.looks += 1;
        if self.line.is_empty() {
            self.skip();
        } else if self.looks > PROMPT_LOOKS || self.taken == CAPACITY {
            self.show(screen);
        }
        false
    }

    fn show(&mut self, screen: &mut Screen) {
        // The screen has no errors where it is this VM's console.
        let _ = self.line.show(self.name, screen);
        self.skip();
    }

    /// What was shown makes room.
    fn skip(&mut self) {
        self.output.skip(self.taken);
        self.taken = 0;
        self.looks = 0;
    }
}
