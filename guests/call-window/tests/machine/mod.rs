//! A channel with a window, in files of this process's: the devicetree, and memory by its addresses.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use tactus_call_window::{Message, SLOT_STATE, SLOT_WORDS, Window, register, state};
use tempfile::TempDir;

/// Where the window and the channel's memory are.
pub const WINDOW: u64 = 0x2a00_0000;
pub const MEMORY: u64 = 0x3000_1000;
/// The number by which the service says which one it is.
pub const SERVICE: u64 = 0x0123_4567_89ab_cdef;

/// What becomes of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is served.
    Serves,
    /// The service is not there.
    Down,
    /// The service has a fault in a call.
    Fails,
    /// It gets these, one after the other, whatever was asked.
    Says(Vec<u64>),
}

/// The machine, with one channel, of this number.
pub struct Machine {
    directory: TempDir,
    memory: File,
    size: u64,
    pub channel: u32,
    pub mode: Mode,
    pub clients: usize,
    pub life: u64,
    /// Calls that were served.
    pub calls: usize,
}

impl Machine {
    /// A machine whose channel has so many bytes.
    pub fn new(channel: u32, size: u64) -> Self {
        let directory = TempDir::new().expect("a directory");
        let path = directory.path().join("memory");
        let mut options = File::options();
        let memory = options.read(true).write(true).create(true).truncate(true);
        let memory = memory.open(path).expect("a file");
        memory.set_len(MEMORY + size).expect("a sparse file");
        let machine = Self {
            directory,
            memory,
            size,
            channel,
            mode: Mode::Serves,
            clients: 4,
            life: 77,
            calls: 0,
        };
        machine.node(
            "doorbell@30000000",
            b"tactus,doorbell\0",
            "none",
            WINDOW,
            4096,
        );
        machine.node(
            "device@2a000000",
            b"tactus,calls\0",
            "tactus,channel",
            WINDOW,
            4096,
        );
        machine.node(
            "channel@30001000",
            b"tactus,channel\0",
            "tactus,index",
            MEMORY,
            size,
        );
        machine
    }

    fn node(&self, name: &str, compatible: &[u8], number: &str, address: u64, size: u64) {
        let reg = [address.to_be_bytes(), size.to_be_bytes()].concat();
        self.property(name, "compatible", compatible);
        self.property(name, number, &self.channel.to_be_bytes());
        self.property(name, "reg", &reg);
    }

    /// Changes a property of the devicetree.
    pub fn property(&self, node: &str, property: &str, value: &[u8]) {
        let node = self.soc().join(node);
        fs::create_dir_all(&node).expect("a node");
        fs::write(node.join(property), value).expect("a property");
    }

    pub fn soc(&self) -> PathBuf {
        self.directory.path().join("soc")
    }

    pub fn memory_path(&self) -> PathBuf {
        self.directory.path().join("memory")
    }

    /// The channel's memory.
    pub fn words(&self) -> Vec<u64> {
        let mut bytes = vec![0; self.size as usize];
        self.memory
            .read_exact_at(&mut bytes, MEMORY)
            .expect("it is there");
        let words = bytes.as_chunks::<8>().0;
        words.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }

    pub fn set_word(&self, number: usize, word: u64) {
        let at = MEMORY + 8 * number as u64;
        self.memory
            .write_all_at(&word.to_le_bytes(), at)
            .expect("it is there");
    }

    /// What a load from the window gets.
    pub fn load(&mut self, offset: u64) -> u64 {
        match &mut self.mode {
            Mode::Serves => {}
            Mode::Down => return 0,
            Mode::Fails => {
                if let Some(place) = offset.checked_sub(register::CALL.into()) {
                    self.set_word(place as usize / 8 * SLOT_WORDS + SLOT_STATE, state::BEGUN);
                    return 0;
                }
            }
            Mode::Says(words) => return if words.is_empty() { 0 } else { words.remove(0) },
        }
        let before = self.words();
        let memory: Vec<AtomicU64> = before.iter().map(|word| AtomicU64::new(*word)).collect();
        let window = Window::new(&memory, self.clients, SERVICE, self.life).expect("it has room");
        let value = window.access(offset as u32, None, |call| {
            self.calls += 1;
            if let Some(word) = call.data.first() {
                word.fetch_add(1, Ordering::Relaxed);
            }
            reply(call.message)
        });
        for (number, word) in before.iter().enumerate() {
            let after = memory[number].load(Ordering::Relaxed);
            if after != *word {
                self.set_word(number, after);
            }
        }
        value
    }
}

/// What the service replies.
pub fn reply(message: Message) -> Message {
    message.map(|word| word.wrapping_mul(3).wrapping_add(1))
}
