//! A decryption server and its clients, each a VM, on one hart: measures the packets decrypted in a second.
//! `role=server` or `role=client`; `size=` is the bytes of a packet, `clients=` the number of clients, `ms=` the time
//! for which the server counts.
//!
//! A client puts a packet into the memory that it shares with the server, rings, and waits for the server's doorbell.
//! The server has a lower priority than the clients: it runs when all of them wait, decrypts one client's packet and
//! rings back. That client then preempts the server, checks the result and submits the next packet. So each request
//! wakes and blocks two vCPUs, and clients take turns.
//!
//! AES-128, block by block. Every packet was encrypted by this program; the client checks the first block of each
//! result.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU64, Ordering};

use aes::Aes128;
use aes::cipher::{Block, BlockDecrypt, BlockEncrypt, KeyInit};
use tactus_guest::abi::interrupts::InterruptPage;
use tactus_guest::channel::Channel;
use tactus_guest::{csr, devicetree, interrupts, power, println, record, start, time, trap};

tactus_guest::entry!(main);

/// Clients at most.
const CLIENTS_MAX: usize = 4;
/// Bytes of a channel's memory: a page of words, and a page for the packet.
const MEMORY: usize = 8192;
const PACKET: usize = 4096;
const BLOCK: usize = 16;
/// The key, known to both ends.
const KEY: [u8; BLOCK] = *b"a key of 16 byte";
/// Plaintext of each byte of a packet.
const TEXT: u8 = 0x5a;
/// Requests before those that are counted.
const WARM: u64 = 64;

fn main() {
    println!("bench-aes, boot arguments \"{}\"", devicetree::arguments());
    if interrupts::use_page().is_err() {
        refuse("there are no pages for interrupts")
    }
    trap::disable_interrupts();
    // SAFETY: interrupts are off in `sstatus`; `sleep` takes this one.
    unsafe { csr::write::<{ csr::SIE }>(csr::INTERRUPT_SOFTWARE) };
    match devicetree::argument("role") {
        Some("server") => serve(),
        Some("client") => ask(),
        _ => refuse("the boot arguments name no role"),
    }
}

/// Ends a run whose configuration permits no measurement.
fn refuse(reason: impl core::fmt::Display) -> ! {
    record::fail(start::program(), reason);
    power::off_failed()
}

/// One end of a channel between client and server.
struct Desk {
    channel: Channel,
    /// Requests submitted.
    made: &'static AtomicU64,
    /// Requests completed.
    done: &'static AtomicU64,
    /// Bytes of the packet.
    size: &'static AtomicU64,
}

impl Desk {
    fn find(number: usize) -> Self {
        let Some(channel) = Channel::find(number).filter(|it| it.words().len() * 8 >= MEMORY)
        else {
            refuse("there is no such channel")
        };
        channel.enable_interrupt(1);
        let words = channel.words();
        Self {
            channel,
            made: &words[0],
            done: &words[8],
            size: &words[16],
        }
    }

    /// A block of the packet.
    fn block(&self, at: usize) -> &'static [AtomicU64] {
        &self.channel.words()[(MEMORY - PACKET + at) / 8..][..BLOCK / 8]
    }
}

fn load(words: &[AtomicU64]) -> Block<Aes128> {
    let mut block = Block::<Aes128>::default();
    for (bytes, word) in block.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
    }
    block
}

fn store(words: &[AtomicU64], block: &Block<Aes128>) {
    for (bytes, word) in block.chunks_exact(8).zip(words) {
        let mut value = [0; 8];
        value.copy_from_slice(bytes);
        word.store(u64::from_le_bytes(value), Ordering::Relaxed);
    }
}

/// Sleeps until a doorbell has rung, possibly before the call. Interrupts stay off: none is missed between a check and
/// the sleep.
fn sleep() {
    trap::wait_for_interrupt();
    // SAFETY: clearing a pending interrupt is always sound.
    unsafe { csr::clear::<{ csr::SIP }>(csr::INTERRUPT_SOFTWARE) };
    // At most one for each channel.
    while interrupts::page().and_then(InterruptPage::claim).is_some() {}
}

fn serve() {
    let clients = devicetree::number("clients", CLIENTS_MAX as u64) as usize;
    let ticks = devicetree::number("ms", 20) * time::hz() / 1000;
    let desks: [Option<Desk>; CLIENTS_MAX] =
        core::array::from_fn(|number| (number < clients).then(|| Desk::find(number)));
    let aes = Aes128::new(&KEY.into());
    let (mut served, mut begin) = (0, 0);
    loop {
        let mut waits = false;
        for desk in desks.iter().flatten() {
            let made = desk.made.load(Ordering::Acquire);
            if made == desk.done.load(Ordering::Relaxed) {
                continue;
            }
            waits = true;
            let size = (desk.size.load(Ordering::Relaxed) as usize).min(PACKET);
            for at in (0..size).step_by(BLOCK) {
                let place = desk.block(at);
                let mut block = load(place);
                aes.decrypt_block(&mut block);
                store(place, &block);
            }
            desk.done.store(made, Ordering::Release);
            desk.channel.ring();
            served += 1;
            if served == WARM {
                begin = time::now();
            }
        }
        let now = time::now();
        if served > WARM && now - begin >= ticks {
            let per_second = (served - WARM) * time::hz() / (now - begin);
            record::metric("aes_packets_per_second", per_second, "count");
            record::pass(start::program());
            power::off();
        }
        if !waits {
            sleep();
        }
    }
}

fn ask() {
    let size = (devicetree::number("size", 16) as usize).clamp(BLOCK, PACKET);
    let desk = Desk::find(0);
    let aes = Aes128::new(&KEY.into());
    let text = Block::<Aes128>::from([TEXT; BLOCK]);
    let mut secret = text;
    aes.encrypt_block(&mut secret);
    for request in 1.. {
        // Restores the first block; the others keep their last result as input. The time of decryption does not depend
        // on the data.
        store(desk.block(0), &secret);
        desk.size.store(size as u64, Ordering::Relaxed);
        desk.made.store(request, Ordering::Release);
        desk.channel.ring();
        while desk.done.load(Ordering::Acquire) != request {
            sleep();
        }
        if load(desk.block(0)) != text {
            refuse("it is decrypted wrongly");
        }
    }
}
