//! Small ELF files for tests.

/// What an ELF file shall contain; by default the smallest guest: one instruction at 0x8020_0000.
#[derive(Clone, Debug)]
pub struct ElfFile {
    /// `e_type`: 2 is an executable.
    pub kind: u16,
    /// `e_machine`: 243 is RISC-V.
    pub machine: u16,
    /// `e_entry`.
    pub entry: u64,
    /// Loadable segments: virtual and physical address, contents, bytes in memory.
    pub segments: Vec<(u64, u64, Vec<u8>, u64)>,
    /// Symbols: name and value.
    pub symbols: Vec<(String, u64)>,
}

impl Default for ElfFile {
    fn default() -> Self {
        Self {
            kind: 2,
            machine: 243,
            entry: 0x8020_0000,
            segments: vec![(0x8020_0000, 0x8020_0000, b"\x73\0\x50\x10".to_vec(), 4)],
            symbols: Vec::new(),
        }
    }
}

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SECTION_HEADER: usize = 64;
const SYMBOL: usize = 24;

/// The bytes of a 64-bit little-endian ELF file.
pub fn elf_file(file: &ElfFile) -> Vec<u8> {
    let mut strings = vec![0u8];
    let mut symbols = vec![0u8; SYMBOL];
    for (name, value) in &file.symbols {
        symbols.extend((strings.len() as u32).to_le_bytes());
        // STB_GLOBAL, STT_NOTYPE, default visibility, SHN_ABS.
        symbols.extend([0x10, 0, 0xf1, 0xff]);
        symbols.extend(value.to_le_bytes());
        symbols.extend(0u64.to_le_bytes());
        strings.extend(name.as_bytes());
        strings.push(0);
    }
    let mut contents = HEADER + PROGRAM_HEADER * file.segments.len();
    let data: usize = file.segments.iter().map(|s| s.2.len()).sum();
    let symbols_at = contents + data;
    let strings_at = symbols_at + symbols.len();
    let sections_at = strings_at + strings.len();

    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    bytes.extend(file.kind.to_le_bytes());
    bytes.extend(file.machine.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.extend(file.entry.to_le_bytes());
    bytes.extend((HEADER as u64).to_le_bytes());
    bytes.extend((sections_at as u64).to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    for field in [
        HEADER,
        PROGRAM_HEADER,
        file.segments.len(),
        SECTION_HEADER,
        3,
        2,
    ] {
        bytes.extend((field as u16).to_le_bytes());
    }
    for (virtual_address, physical_address, data, memory_size) in &file.segments {
        // PT_LOAD, readable, writable and executable.
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(7u32.to_le_bytes());
        for field in [
            contents as u64,
            *virtual_address,
            *physical_address,
            data.len() as u64,
            *memory_size,
            1,
        ] {
            bytes.extend(field.to_le_bytes());
        }
        contents += data.len();
    }
    for (_, _, data, _) in &file.segments {
        bytes.extend(data);
    }
    bytes.extend(&symbols);
    bytes.extend(&strings);
    // The null section, SHT_SYMTAB linked to the next one, SHT_STRTAB.
    for (kind, at, size, link, entry) in [
        (0u32, 0, 0, 0u32, 0),
        (2, symbols_at, symbols.len(), 2, SYMBOL),
        (3, strings_at, strings.len(), 0, 0),
    ] {
        bytes.extend(0u32.to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        for field in [0, 0, at as u64, size as u64] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(link.to_le_bytes());
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(1u64.to_le_bytes());
        bytes.extend((entry as u64).to_le_bytes());
    }
    bytes
}

/// A flattened devicetree in the source format (Devicetree Specification 0.4, chapters 5 and 6), one property a
/// line. Values of printable strings are written as such, others as cells.
pub fn devicetree_source(dtb: &[u8]) -> String {
    let cell = |at: usize| {
        let bytes = dtb[at..at + 4].try_into().expect("four bytes");
        u32::from_be_bytes(bytes) as usize
    };
    assert_eq!(cell(0), 0xd00d_feed);
    assert_eq!(cell(4), dtb.len());
    let (mut at, strings) = (cell(8), cell(12));
    let text = |at: usize| {
        let end = dtb[at..]
            .iter()
            .position(|&b| b == 0)
            .expect("a terminator");
        std::str::from_utf8(&dtb[at..at + end]).expect("a string")
    };
    let mut source = String::new();
    let mut depth = 0;
    loop {
        let token = cell(at);
        at += 4;
        let indent = "    ".repeat(depth);
        match token {
            1 => {
                let name = text(at);
                source += &format!("{indent}{name} {{\n");
                at += (name.len() + 1).next_multiple_of(4);
                depth += 1;
            }
            2 => {
                depth -= 1;
                source += &format!("{}}};\n", "    ".repeat(depth));
            }
            3 => {
                let (size, name) = (cell(at), text(strings + cell(at + 4)));
                at += 8;
                source += &format!("{indent}{name}{};\n", value_source(&dtb[at..at + size]));
                at += size.next_multiple_of(4);
            }
            4 => {}
            9 => return source,
            other => panic!("token {other} in the devicetree"),
        }
    }
}

fn value_source(value: &[u8]) -> String {
    let Some((&0, text)) = value.split_last() else {
        return cells_source(value);
    };
    let strings: Vec<_> = text.split(|&b| b == 0).collect();
    let printable = |s: &&[u8]| !s.is_empty() && s.iter().all(|b| (0x20..0x7f).contains(b));
    if !strings.iter().all(printable) {
        return cells_source(value);
    }
    let strings = strings
        .iter()
        .map(|s| format!("{:?}", String::from_utf8_lossy(s)));
    format!(" = {}", strings.collect::<Vec<_>>().join(", "))
}

fn cells_source(value: &[u8]) -> String {
    if value.is_empty() {
        return String::new();
    }
    let cells = value.chunks(4).map(|cell| {
        let bytes = cell.try_into().expect("whole cells");
        format!("{:#x}", u32::from_be_bytes(bytes))
    });
    format!(" = <{}>", cells.collect::<Vec<_>>().join(" "))
}
