//! The memory map for C: what `abi/src/map.rs`, `abi/src/uart.rs` and `abi/src/record.rs` say, as macros.

use std::fmt::Write as _;

use tactus_abi::{map, record, uart};

/// The header `tactus_map.h`.
pub(super) fn header() -> String {
    let mut text = format!(
        "/*\n * Addresses and interrupt sources in a VM, and the 16550's registers: made by `tactus new guest` of version {}.\n \
         * docs/src/reference/memory-map.md explains them.\n */\n#ifndef TACTUS_MAP_H\n#define TACTUS_MAP_H\n",
        env!("CARGO_PKG_VERSION")
    );
    let addresses = [
        ("FINISHER_BASE", map::FINISHER_BASE),
        ("PLIC_BASE", map::PLIC_BASE),
        ("UART_BASE", map::UART_BASE),
        ("RAM_BASE", map::RAM_BASE),
        ("RAW_IMAGE_BASE", map::RAW_IMAGE_BASE),
        ("DEVICETREE_SIZE", map::DEVICETREE_SIZE),
    ];
    let numbers = [
        ("PLIC_SOURCES", map::PLIC_SOURCES),
        ("PLIC_PRIORITY_MAX", map::PLIC_PRIORITY_MAX),
        ("UART_SOURCE", map::UART_SOURCE),
        ("FAULT_SOURCE", map::FAULT_SOURCE),
    ];
    let registers = [
        ("UART_DATA", uart::DATA),
        ("UART_IER", uart::IER),
        ("UART_IIR_FCR", uart::IIR_FCR),
        ("UART_LCR", uart::LCR),
        ("UART_MCR", uart::MCR),
        ("UART_LSR", uart::LSR),
    ];
    let bits = [
        ("UART_IER_RECEIVED", uart::IER_RECEIVED),
        ("UART_IER_TRANSMITTER_EMPTY", uart::IER_TRANSMITTER_EMPTY),
        ("UART_LSR_RECEIVED", uart::LSR_RECEIVED),
        ("UART_LSR_TRANSMITTER_EMPTY", uart::LSR_TRANSMITTER_EMPTY),
    ];
    text.push('\n');
    for (name, value) in addresses {
        let _ = writeln!(text, "#define TACTUS_{name} 0x{value:x}");
    }
    text.push('\n');
    for (name, value) in numbers {
        let _ = writeln!(text, "#define TACTUS_{name} {value}");
    }
    text.push('\n');
    for (name, value) in registers {
        let _ = writeln!(text, "#define TACTUS_{name} {value}");
    }
    for (name, value) in bits {
        let _ = writeln!(text, "#define TACTUS_{name} 0x{value:02x}");
    }
    let _ = writeln!(
        text,
        "\n/* Begins a line that `tactus run` takes into its report. */\n#define TACTUS_RECORD \"{}\"\n\n#endif",
        record::PREFIX
    );
    text
}
