//! A program for the machine that plays back bytes on its UART.
//!
//! It produces any bytes that the tool can receive on a serial line, without a hypervisor that would have to send them.

use std::io::Write;

use tactus_abi::console::{LOG_STREAM, SELECT, STREAM_BASE};
use tempfile::NamedTempFile;

/// The program's behaviour when it has written everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It switches the machine off (SBI system reset, shutdown).
    Off = 0,
    /// It echoes its input for ever.
    Echo = 1,
}

/// Position-independent RV64I. At 0x70 behind it are the number of bytes to write, the behaviour then, and the bytes.
const CODE: [u32; 28] = [
    0x0000_0317, //        auipc t1, 0
    0x0703_3383, //        ld    t2, 0x70(t1)    # bytes left
    0x0783_3e83, //        ld    t4, 0x78(t1)    # what then
    0x0803_0313, //        addi  t1, t1, 0x80    # next byte
    0x1000_02b7, //        lui   t0, 0x10000     # the UART
    0x0203_8263, // next:  beqz  t2, done
    0x0052_ce03, // ready: lbu   t3, 5(t0)       # line status
    0x020e_7e13, //        andi  t3, t3, 32      # transmitter holding register empty?
    0xfe0e_0ce3, //        beqz  t3, ready
    0x0003_4e03, //        lbu   t3, 0(t1)
    0x01c2_8023, //        sb    t3, 0(t0)
    0x0013_0313, //        addi  t1, t1, 1
    0xfff3_8393, //        addi  t2, t2, -1
    0xfe1f_f06f, //        j     next
    0x000e_8e63, // done:  beqz  t4, off
    0x0052_ce03, // echo:  lbu   t3, 5(t0)
    0x001e_7e13, //        andi  t3, t3, 1       # data ready?
    0xfe0e_0ce3, //        beqz  t3, echo
    0x0002_ce03, //        lbu   t3, 0(t0)
    0x01c2_8023, //        sb    t3, 0(t0)
    0xfedf_f06f, //        j     echo
    0x5352_58b7, // off:   lui   a7, 0x53525     # "SRST"
    0x3548_8893, //        addi  a7, a7, 0x354
    0x0000_0813, //        li    a6, 0
    0x0000_0513, //        li    a0, 0           # shutdown
    0x0000_0593, //        li    a1, 0
    0x0000_0073, //        ecall
    0xfe9f_f06f, //        j     off
];

/// An image that the firmware starts and that plays back `bytes`.
pub fn player(bytes: &[u8], then: Then) -> NamedTempFile {
    let mut image: Vec<u8> = CODE.iter().flat_map(|word| word.to_le_bytes()).collect();
    image.extend((bytes.len() as u64).to_le_bytes());
    image.extend((then as u64).to_le_bytes());
    image.extend(bytes);
    let mut file = NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(&image).expect("it can be written");
    file
}

/// The writer of a text in a made-up run.
#[derive(Clone, Copy, Debug)]
pub enum From {
    /// The hypervisor's log.
    Log,
    /// The VM with this index.
    Vm(u8),
}

/// The serial output of a hypervisor when these writers write these texts in turn.
pub fn framed(parts: &[(From, &str)]) -> Vec<u8> {
    let mut line = Vec::new();
    for (from, text) in parts {
        let stream = match from {
            From::Log => LOG_STREAM,
            From::Vm(vm) => vm + 1,
        };
        line.extend([SELECT, STREAM_BASE + stream]);
        for byte in text.bytes() {
            if byte == SELECT {
                line.push(SELECT);
            }
            line.push(byte);
        }
    }
    line
}
