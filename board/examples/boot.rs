//! Boots software on a board that is put together by hand: an ELF in M-mode, or firmware with a kernel behind it.
//!
//! `boot FIRMWARE.elf [KERNEL [INITRD [BOOTARGS]]]`

use std::time::Instant;

use object::{Object, ObjectSegment};
use tactus_board::board::{Board, Parts};
use tactus_board::devices::{Clint, Finisher, Plic, Uart, map};
use tactus_board::devicetree::{Description, Range, blob};
use tactus_board::time::Femtoseconds;

const KERNEL: u64 = 0x8020_0000;
const INITRD: u64 = 0x8800_0000;
const BLOB: u64 = 0x9ff0_0000;
const INFO: u64 = 0x9ffe_0000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let harts: usize = std::env::var("HARTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let parts = Parts {
        harts,
        clock_hz: 1_000_000_000,
        timebase_hz: 10_000_000,
        memory_base: map::MEMORY,
        memory_size: 512 << 20,
        quantum: 1000,
    };
    let mut board = Board::new(&parts)?;
    let (uart, console) = Uart::new(map::UART_LINE);
    console.forward(Box::new(std::io::stdout()));
    board.attach_clint(map::CLINT, Clint::new(harts, 10_000_000))?;
    board.attach_plic(map::PLIC, Plic::new(harts, map::PLIC_SOURCES))?;
    board.attach("finisher", map::FINISHER, map::FINISHER_SIZE, Box::new(Finisher::new()))?;
    board.attach("uart", map::UART, map::UART_SIZE, Box::new(uart))?;
    let bytes = std::fs::read(&arguments[0])?;
    let mut entry = map::MEMORY;
    if let Ok(elf) = object::File::parse(bytes.as_slice()) {
        for segment in elf.segments() {
            board.write(segment.address(), segment.data()?)?;
        }
        entry = elf.entry();
    } else {
        board.write(entry, &bytes)?;
    }
    let mut description = Description {
        harts: harts as u32,
        memory: Range::new(map::MEMORY, parts.memory_size),
        virtio_slots: 0,
        bootargs: arguments.get(3).cloned(),
        ..Description::default()
    };
    if let Some(kernel) = arguments.get(1) {
        board.write(KERNEL, &std::fs::read(kernel)?)?;
    }
    if let Some(initrd) = arguments.get(2).filter(|name| !name.is_empty()) {
        let initrd = std::fs::read(initrd)?;
        board.write(INITRD, &initrd)?;
        description.initrd = Some(Range::new(INITRD, initrd.len() as u64));
    }
    board.write(BLOB, &blob(&description)?)?;
    // What OpenSBI's fw_dynamic wants to know: magic, version, where to go on, in S-mode, options, any hart.
    let info = [0x4942_534f, 2, KERNEL, 1, 0, u64::MAX];
    board.write(INFO, &info.map(u64::to_le_bytes).concat())?;
    for hart in 0..harts {
        board.set_pc(hart, entry);
        board.set_x(hart, 10, hart as u64);
        board.set_x(hart, 11, BLOB);
        board.set_x(hart, 12, INFO);
    }
    let begin = Instant::now();
    let outcome = board.run(Femtoseconds(100 * Femtoseconds::SECOND.0));
    let seconds = begin.elapsed().as_secs_f64();
    let instructions: u64 = (0..harts).map(|hart| board.instructions(hart)).sum();
    eprintln!(
        "\n{outcome}; {instructions} instructions in {seconds:.3} s: {:.1} MIPS; pc {:#x}, trace {:016x}",
        instructions as f64 / seconds / 1e6,
        board.pc(0),
        board.trace_hash()
    );
    Ok(())
}
