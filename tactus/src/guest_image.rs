//! A guest's image: what goes where in the VM's memory, and where it is entered.

use std::fmt;
use std::path::Path;

use object::elf;
use object::endian::Endianness;
use object::read::elf::{FileHeader, ProgramHeader};
use sha2::{Digest, Sha256};
use tactus_abi::map::{RAM_BASE, RAW_IMAGE_BASE};
use tactus_planning::placement::Extent;

use crate::config::Address;

/// A guest's image, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestImage {
    /// What kind of file it is, in words.
    pub format: &'static str,
    /// Guest-physical address of the first instruction.
    pub entry: u64,
    /// What is loaded, by address.
    pub segments: Vec<Segment>,
}

/// A part of an image that is loaded in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Guest-physical address of its first byte.
    pub guest: u64,
    /// Its contents. The rest of [`Self::memory_size`] is zeros.
    pub bytes: Vec<u8>,
    /// Bytes that it takes in memory.
    pub memory_size: u64,
}

impl Segment {
    /// The addresses it takes.
    pub const fn extent(&self) -> Extent {
        Extent::new(self.guest, self.memory_size)
    }
}

/// Why a file is no image that a VM could run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There is nothing in it.
    Empty,
    /// It is compressed.
    Compressed(Compression),
    /// A damaged ELF file; says which part.
    Corrupt(&'static str),
    /// Made for something else than 64-bit little-endian RISC-V.
    Foreign(String),
    /// An ELF file that is not linked to run: an object file or a core dump.
    NotExecutable,
    /// Linked to be placed by a dynamic loader, which no VM has.
    NeedsInterpreter,
    /// No segment is loaded.
    NothingToLoad,
    /// The entry is in none of the segments.
    EntryOutside(u64),
    /// Two segments share addresses.
    SegmentsOverlap(Extent, Extent),
}

impl Unfit {
    /// What to do about it; the file is at `path`.
    pub fn cure(&self, path: &Path) -> String {
        let cure = match self {
            Self::Empty | Self::Corrupt(_) => "create the file again; it may be truncated",
            Self::Compressed(compression) => return compression.cure(path),
            Self::Foreign(_) => {
                "build the guest for riscv64 (`riscv64gc-unknown-none-elf`, `riscv64-linux-gnu`)"
            }
            Self::NotExecutable => "link it: name the executable, not an object file",
            Self::NeedsInterpreter => {
                "link it statically, as supervisor-mode software at 0x8020_0000; this looks like a Linux program"
            }
            Self::NothingToLoad => {
                "check its linker script: it has no loadable segment with contents"
            }
            Self::EntryOutside(_) => "name the entry in its linker script with ENTRY(...)",
            Self::SegmentsOverlap(..) => {
                "correct its linker script: load addresses (LMA) must not overlap"
            }
        };
        cure.to_owned()
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is empty"),
            Self::Compressed(compression) => write!(f, "is compressed ({})", compression.name()),
            Self::Corrupt(part) => write!(f, "is a damaged ELF file: {part}"),
            Self::Foreign(machine) => write!(
                f,
                "is made for {machine}, not for little-endian 64-bit RISC-V"
            ),
            Self::NotExecutable => f.write_str("is an ELF file that is not executable"),
            Self::NeedsInterpreter => f.write_str("is an ELF file that needs a dynamic loader"),
            Self::NothingToLoad => f.write_str("is an ELF file with nothing to load"),
            Self::EntryOutside(entry) => {
                write!(f, "is entered at {}, where it has no code", Address(*entry))
            }
            Self::SegmentsOverlap(a, b) => write!(
                f,
                "has two segments that overlap, {} and {}",
                extent_text(*a),
                extent_text(*b)
            ),
        }
    }
}

/// A range of addresses in words, both ends included.
pub(crate) fn extent_text(extent: Extent) -> String {
    format!(
        "{}..={}",
        Address(extent.start),
        Address(extent.end.saturating_sub(1))
    )
}

/// How a file is compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The program that unpacks it; `None`: it is not known.
    program: Option<&'static str>,
    /// Where the compressed bytes are within an EFI zboot image, which unpacks itself under EFI alone: offset and
    /// length.
    zboot: Option<(u32, u32)>,
}

/// First bytes of compressed files, and the programs that unpack them. The legacy format of lz4 is what Linux's build
/// makes.
const COMPRESSIONS: [(&[u8], &str); 7] = [
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\x02\x21\x4c\x18", "lz4"),
    (b"\x5d\0\0", "lzma"),
];
/// `MZ`, two bytes, and this begin an EFI zboot image; offset and length of its payload follow, 8 bytes are free, and
/// then comes the name of the compression (Linux, drivers/firmware/efi/libstub/zboot-header.S).
const ZBOOT_MAGIC: &[u8] = b"zimg";
const ZBOOT_COMPRESSION: usize = 24;

impl Compression {
    /// How these bytes are compressed; `None`: they are not, as far as is known.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let program_of = |bytes: &[u8]| {
            let mut known = COMPRESSIONS.iter();
            known.find_map(|(magic, program)| bytes.starts_with(magic).then_some(*program))
        };
        if bytes.starts_with(b"MZ") && bytes.get(4..8) == Some(ZBOOT_MAGIC) {
            let field = |at: usize| {
                let field = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
                u32::from_le_bytes(field.unwrap_or_default())
            };
            let (offset, length) = (field(8), field(12));
            let payload = bytes.get(offset as usize..).unwrap_or_default();
            let name = bytes.get(ZBOOT_COMPRESSION..).unwrap_or_default();
            // The names are those of the kernel's configuration.
            let known = [
                (&b"gzip"[..], "gzip"),
                (b"zstd", "zstd"),
                (b"xz", "xz"),
                (b"lz4", "lz4"),
                (b"lzma", "lzma"),
            ];
            let mut named = known.iter();
            let named = named.find(|(begin, _)| name.starts_with(begin));
            return Some(Self {
                program: program_of(payload).or(named.map(|(_, program)| *program)),
                zboot: Some((offset, length)),
            });
        }
        program_of(bytes).map(|program| Self {
            program: Some(program),
            zboot: None,
        })
    }

    /// What messages call it.
    fn name(&self) -> String {
        let program = self.program.unwrap_or("of an unknown kind");
        match self.zboot {
            Some(_) => format!("an EFI zboot image, {program}"),
            None => program.to_owned(),
        }
    }

    /// The command that unpacks the file.
    fn cure(&self, path: &Path) -> String {
        let quoted = quoted(path);
        let Some(program) = self.program else {
            return "name the uncompressed kernel: `arch/riscv/boot/Image` of its build".into();
        };
        match self.zboot {
            Some((offset, length)) => format!(
                "unpack it: `tail -c +{} {quoted} | head -c {length} | {program} -dc > Image`",
                u64::from(offset) + 1
            ),
            None => format!("unpack it: `{program} -dc {quoted} > Image`"),
        }
    }
}

/// A path as an argument of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+@%=:,~".contains(c);
    if !text.is_empty() && text.chars().all(plain) && !text.starts_with(['-', '~']) {
        return text;
    }
    let begin = if text.starts_with('-') { "./" } else { "" };
    format!("'{begin}{}'", text.replace('\'', "'\\''"))
}

/// Offset of the second magic in the header of a Linux image (Documentation/arch/riscv/boot-image-header.rst,
/// Documentation/arch/arm64/booting.rst).
const LINUX_MAGIC_OFFSET: usize = 56;
const LINUX_MAGIC_RISCV: &[u8] = b"RSC\x05";
const LINUX_MAGIC_ARM64: &[u8] = b"ARM\x64";
/// Offset of `text_offset` in that header: where to load it, from the start of memory.
const LINUX_TEXT_OFFSET: usize = 8;
/// Offset of `image_size`: bytes it takes with everything it clears.
const LINUX_IMAGE_SIZE: usize = 16;

impl GuestImage {
    /// The SHA-256, in hexadecimal, of what is loaded and where: the same for files that differ in nothing but what is
    /// not loaded.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(self.entry.to_le_bytes());
        for segment in &self.segments {
            for number in [
                segment.guest,
                segment.memory_size,
                segment.bytes.len() as u64,
            ] {
                hash.update(number.to_le_bytes());
            }
            hash.update(&segment.bytes);
        }
        let digest = hash.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Takes an image apart: an ELF file, a Linux kernel, or else a raw image.
    ///
    /// # Errors
    /// It could not run in any VM.
    pub fn parse(bytes: &[u8]) -> Result<Self, Unfit> {
        if bytes.is_empty() {
            return Err(Unfit::Empty);
        }
        if let Some(compression) = Compression::of(bytes) {
            return Err(Unfit::Compressed(compression));
        }
        if bytes.starts_with(&elf::ELFMAG) {
            return parse_elf(bytes);
        }
        let magic = bytes.get(LINUX_MAGIC_OFFSET..LINUX_MAGIC_OFFSET + 4);
        match magic {
            Some(LINUX_MAGIC_ARM64) => Err(Unfit::Foreign("AArch64".into())),
            Some(LINUX_MAGIC_RISCV) => Ok(parse_linux(bytes)),
            _ => Ok(raw("raw image", RAW_IMAGE_BASE, bytes, 0)),
        }
    }
}

fn raw(format: &'static str, guest: u64, bytes: &[u8], memory_size: u64) -> GuestImage {
    GuestImage {
        format,
        entry: guest,
        segments: vec![Segment {
            guest,
            bytes: bytes.to_vec(),
            memory_size: memory_size.max(bytes.len() as u64),
        }],
    }
}

fn parse_linux(bytes: &[u8]) -> GuestImage {
    let field = |offset: usize| {
        let bytes = bytes
            .get(offset..offset + 8)
            .and_then(|b| b.try_into().ok());
        u64::from_le_bytes(bytes.unwrap_or_default())
    };
    let guest = RAM_BASE.saturating_add(field(LINUX_TEXT_OFFSET));
    raw("Linux kernel", guest, bytes, field(LINUX_IMAGE_SIZE))
}

/// The name of what an ELF file is made for.
fn machine_name(class: elf::FileClass, data: elf::DataEncoding, machine: elf::Machine) -> String {
    let bits = match (data, class) {
        (elf::ELFDATA2MSB, elf::ELFCLASS32) => "big-endian 32-bit ",
        (elf::ELFDATA2MSB, _) => "big-endian ",
        (_, elf::ELFCLASS32) => "32-bit ",
        _ => "",
    };
    let name = match machine {
        elf::EM_RISCV => "RISC-V",
        elf::EM_X86_64 => "x86-64",
        elf::EM_386 => "x86",
        elf::EM_AARCH64 => "AArch64",
        elf::EM_ARM => "Arm",
        other => return format!("{bits}machine {}", other.0),
    };
    format!("{bits}{name}")
}

fn parse_elf(bytes: &[u8]) -> Result<GuestImage, Unfit> {
    // The fields that tell class and machine stand at the same place in every ELF file.
    let (Some(&class), Some(&data), Some(machine)) =
        (bytes.get(4), bytes.get(5), bytes.get(18..20))
    else {
        return Err(Unfit::Corrupt("its header is cut off"));
    };
    let (class, data) = (elf::FileClass(class), elf::DataEncoding(data));
    let machine = elf::Machine(match data {
        elf::ELFDATA2MSB => u16::from_be_bytes([machine[0], machine[1]]),
        _ => u16::from_le_bytes([machine[0], machine[1]]),
    });
    if class != elf::ELFCLASS64 || data != elf::ELFDATA2LSB || machine != elf::EM_RISCV {
        return Err(Unfit::Foreign(machine_name(class, data, machine)));
    }
    let header = elf::FileHeader64::<Endianness>::parse(bytes)
        .map_err(|_| Unfit::Corrupt("its header is cut off"))?;
    let endian = Endianness::Little;
    if !matches!(header.e_type(endian), elf::ET_EXEC | elf::ET_DYN) {
        return Err(Unfit::NotExecutable);
    }
    let headers = header
        .program_headers(endian, bytes)
        .map_err(|_| Unfit::Corrupt("its program headers are cut off"))?;

    let mut entry = None;
    let mut segments = Vec::new();
    for program in headers {
        match program.p_type(endian) {
            elf::PT_INTERP => return Err(Unfit::NeedsInterpreter),
            elf::PT_LOAD => {}
            _ => continue,
        }
        let (address, memory_size) = (program.p_paddr(endian), program.p_memsz(endian));
        if memory_size == 0 {
            continue;
        }
        let contents = program
            .data(endian, bytes)
            .map_err(|()| Unfit::Corrupt("a segment's contents are cut off"))?;
        if contents.len() as u64 > memory_size {
            return Err(Unfit::Corrupt("a segment has more contents than memory"));
        }
        if address.checked_add(memory_size).is_none() {
            return Err(Unfit::Corrupt("a segment ends past the last address"));
        }
        // The entry is a virtual address; the guest starts without translation, at the physical one.
        let offset = header.e_entry(endian).checked_sub(program.p_vaddr(endian));
        if let Some(offset) = offset.filter(|&offset| offset < memory_size) {
            entry = Some(address + offset);
        }
        segments.push(Segment {
            guest: address,
            bytes: contents.to_vec(),
            memory_size,
        });
    }
    segments.sort_by_key(|segment| segment.guest);
    if segments.iter().all(|segment| segment.bytes.is_empty()) {
        return Err(Unfit::NothingToLoad);
    }
    for pair in segments.windows(2) {
        if pair[0].extent().overlaps(pair[1].extent()) {
            return Err(Unfit::SegmentsOverlap(pair[0].extent(), pair[1].extent()));
        }
    }
    Ok(GuestImage {
        format: "ELF",
        entry: entry.ok_or(Unfit::EntryOutside(header.e_entry(endian)))?,
        segments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ElfFile, elf_file};
    use proptest::prelude::*;

    #[test]
    fn an_elf_file_is_entered_at_its_physical_entry() {
        let image = GuestImage::parse(&elf_file(&ElfFile {
            entry: 0xffff_ffff_8000_0004,
            segments: vec![(
                0xffff_ffff_8000_0000,
                0x8020_0000,
                b"12345678".to_vec(),
                0x1000,
            )],
            ..ElfFile::default()
        }))
        .expect("an image");
        assert_eq!(image.entry, 0x8020_0004);
        assert_eq!(image.segments[0].guest, 0x8020_0000);
        assert_eq!(image.segments[0].bytes, b"12345678");
        assert_eq!(image.segments[0].memory_size, 0x1000);
    }

    #[test]
    fn a_raw_image_is_loaded_and_entered_where_the_firmware_would() {
        let image = GuestImage::parse(b"\x13\0\0\0").expect("an image");
        assert_eq!(image.entry, 0x8020_0000);
        assert_eq!(image.segments[0].extent(), Extent::new(0x8020_0000, 4));
    }

    #[test]
    fn a_linux_kernel_takes_what_its_header_says() {
        let mut bytes = vec![0; 64];
        bytes[8..16].copy_from_slice(&0x20_0000u64.to_le_bytes());
        bytes[16..24].copy_from_slice(&0x5000u64.to_le_bytes());
        bytes[56..60].copy_from_slice(b"RSC\x05");
        let image = GuestImage::parse(&bytes).expect("an image");
        assert_eq!(image.format, "Linux kernel");
        assert_eq!(image.segments[0].extent(), Extent::new(0x8020_0000, 0x5000));
    }

    #[test]
    fn what_cannot_run_is_refused() {
        let refusal = |file: &ElfFile| GuestImage::parse(&elf_file(file)).expect_err("a refusal");
        let good = ElfFile::default();
        assert!(GuestImage::parse(&elf_file(&good)).is_ok());
        assert_eq!(
            refusal(&ElfFile {
                machine: 62,
                ..good.clone()
            }),
            Unfit::Foreign("x86-64".into())
        );
        assert_eq!(
            refusal(&ElfFile {
                kind: 1,
                ..good.clone()
            }),
            Unfit::NotExecutable
        );
        assert_eq!(
            refusal(&ElfFile {
                segments: vec![],
                ..good.clone()
            }),
            Unfit::NothingToLoad
        );
        assert_eq!(
            refusal(&ElfFile {
                entry: 8,
                ..good.clone()
            }),
            Unfit::EntryOutside(8)
        );
        let twice = |a: u64| (a, a, vec![0; 16], 16);
        let overlap = ElfFile {
            segments: vec![twice(0x8020_0000), twice(0x8020_0008)],
            ..good.clone()
        };
        assert!(matches!(refusal(&overlap), Unfit::SegmentsOverlap(..)));
        assert_eq!(GuestImage::parse(b""), Err(Unfit::Empty));
        let mut class32 = elf_file(&good);
        class32[4] = 1;
        assert_eq!(
            GuestImage::parse(&class32),
            Err(Unfit::Foreign("32-bit RISC-V".into()))
        );
    }

    #[test]
    fn compressed_files_are_told_by_their_magic_and_how_to_unpack_them() {
        let mut zboot = vec![0; 64];
        zboot[..2].copy_from_slice(b"MZ");
        zboot[4..8].copy_from_slice(b"zimg");
        zboot[8..12].copy_from_slice(&48u32.to_le_bytes());
        zboot[12..16].copy_from_slice(&16u32.to_le_bytes());
        zboot[24..28].copy_from_slice(b"gzip");
        let mut unknown = zboot.clone();
        unknown[24..28].copy_from_slice(b"what");
        zboot[48..50].copy_from_slice(b"\x1f\x8b");
        for (bytes, path, message, cure) in [
            (
                &b"\x1f\x8b\x08"[..],
                "vmlinuz",
                "is compressed (gzip)",
                "unpack it: `gzip -dc vmlinuz > Image`",
            ),
            (
                b"\x28\xb5\x2f\xfd",
                "a b",
                "is compressed (zstd)",
                "unpack it: `zstd -dc 'a b' > Image`",
            ),
            (
                b"\xfd7zXZ\0",
                "-x",
                "is compressed (xz)",
                "unpack it: `xz -dc './-x' > Image`",
            ),
            (
                b"BZh9",
                "it's",
                "is compressed (bzip2)",
                "unpack it: `bzip2 -dc 'it'\\''s' > Image`",
            ),
            (
                b"\x04\x22\x4d\x18",
                "k",
                "is compressed (lz4)",
                "unpack it: `lz4 -dc k > Image`",
            ),
            (
                &zboot,
                "vmlinuz.efi",
                "is compressed (an EFI zboot image, gzip)",
                "unpack it: `tail -c +49 vmlinuz.efi | head -c 16 | gzip -dc > Image`",
            ),
            (
                &unknown,
                "vmlinuz.efi",
                "is compressed (an EFI zboot image, of an unknown kind)",
                "name the uncompressed kernel: `arch/riscv/boot/Image` of its build",
            ),
        ] {
            let unfit = GuestImage::parse(bytes).expect_err("it is compressed");
            assert_eq!(unfit.to_string(), message);
            assert_eq!(unfit.cure(Path::new(path)), cure);
        }
    }

    proptest! {
        #[test]
        fn no_file_makes_it_panic(bytes: Vec<u8>) {
            let _ = GuestImage::parse(&bytes);
        }

        #[test]
        fn no_damaged_file_makes_it_panic(at in 0..200usize, value: u8, length in 0..400usize) {
            let mut bytes = elf_file(&ElfFile::default());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = value;
            }
            bytes.truncate(length.max(4));
            let _ = GuestImage::parse(&bytes);
        }
    }
}
