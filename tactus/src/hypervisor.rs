//! The hypervisor's file, flattened for the boot image.

use object::elf;
use object::endian::Endianness;
use object::read::elf::{FileHeader, Sym};
use tactus_abi::map::PAGE_SIZE;
use tactus_planning::placement::Extent;

use crate::config::Address;
use crate::guest_image::GuestImage;

/// The hypervisor's symbol for the place of the system blob.
pub const BLOB_SYMBOL: &str = "__tactus_blob";
/// The symbols around what executes elsewhere than it is loaded, and where the rest of that memory begins.
const ONCHIP_PLACES: [&str; 3] = ["__onchip_begin", "__onchip_end", "__onchip_rest"];
/// The symbols whose values are the bytes that objects take there: all of a system, then each of a kind.
const ONCHIP_OBJECTS: [&str; 6] = [
    "__onchip_fixed",
    "__onchip_hart",
    "__onchip_vm",
    "__onchip_vcpu",
    "__onchip_channel_end",
    "__onchip_interface",
];
/// Most that the hypervisor may take in memory; more is a damaged file.
const SIZE_MAX: u64 = 64 << 20;

/// The hypervisor, ready for a boot image.
#[derive(Clone, Debug)]
pub struct Hypervisor {
    /// Its memory's contents from the first address to [`Self::blob`], zeros included.
    pub bytes: Vec<u8>,
    /// First address.
    pub base: u64,
    /// Where the system blob goes.
    pub blob: u64,
    /// What of it is in on-chip memory, if anything is.
    pub onchip: Option<Onchip>,
}

/// What of a hypervisor is in on-chip memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Onchip {
    /// Text and constants, to which its first instructions bring them.
    pub text: Extent,
    /// Where what it keeps of harts and guests begins.
    pub rest: u64,
    /// Bytes of that: once, for each hart, VM, vCPU, end of a channel, and virtual device of accelerators.
    objects: [u64; 6],
}

impl Onchip {
    /// That of symbols' values, if they are there and it executes elsewhere than at `base`.
    fn of(symbol: impl Fn(&str) -> Option<u64>, base: u64) -> Option<Self> {
        let [start, end, rest] = ONCHIP_PLACES.map(&symbol);
        let (start, end, rest) = (start?, end?, rest?);
        let mut objects = [0; 6];
        for (bytes, name) in objects.iter_mut().zip(ONCHIP_OBJECTS) {
            *bytes = symbol(name)?;
        }
        (start != base && start <= end && end <= rest).then_some(Self {
            text: Extent { start, end },
            rest,
            objects,
        })
    }

    /// Bytes that it keeps of a system with so many harts, VMs, vCPUs, ends of channels, and virtual devices of
    /// accelerators.
    pub fn kept(&self, numbers: [usize; 5]) -> u64 {
        let [fixed, each @ ..] = self.objects;
        let each = each.into_iter().zip(numbers);
        fixed
            + each
                .map(|(bytes, number)| bytes * number as u64)
                .sum::<u64>()
    }
}

impl Hypervisor {
    /// Flattens the hypervisor's ELF file, which the firmware shall enter at `base`.
    ///
    /// # Errors
    /// It is not what the tool expects; says what.
    pub fn parse(file: &[u8], base: u64) -> Result<Self, String> {
        let image = GuestImage::parse(file).map_err(|unfit| unfit.to_string())?;
        if image.format != "ELF" {
            return Err("is not an ELF file".into());
        }
        if image.entry != base {
            return Err(format!(
                "is entered at {}; the firmware enters the boot image at {}",
                Address(image.entry),
                Address(base)
            ));
        }
        let blob = symbol(file, BLOB_SYMBOL)
            .ok_or_else(|| format!("has no symbol `{BLOB_SYMBOL}` for the system blob"))?;
        if !blob.is_multiple_of(PAGE_SIZE) {
            return Err(format!(
                "`{BLOB_SYMBOL}` is at {}, not at a page",
                Address(blob)
            ));
        }
        let size = blob
            .checked_sub(base)
            .filter(|&size| size <= SIZE_MAX)
            .ok_or_else(|| format!("`{BLOB_SYMBOL}` is at {}, out of reach", Address(blob)))?;
        let mut bytes = vec![0; size as usize];
        for segment in &image.segments {
            let start = segment.guest.checked_sub(base).map(|start| start as usize);
            let place =
                start.and_then(|start| bytes.get_mut(start..start + segment.memory_size as usize));
            let place = place.ok_or_else(|| {
                format!(
                    "has a segment at {} outside of {} to `{BLOB_SYMBOL}`",
                    Address(segment.guest),
                    Address(base)
                )
            })?;
            place[..segment.bytes.len()].copy_from_slice(&segment.bytes);
        }
        let onchip = Onchip::of(|name| symbol(file, name), base);
        Ok(Self {
            bytes,
            base,
            blob,
            onchip,
        })
    }
}

/// The value of a symbol of an ELF file.
fn symbol(file: &[u8], name: &str) -> Option<u64> {
    let endian = Endianness::Little;
    let header = elf::FileHeader64::<Endianness>::parse(file).ok()?;
    let sections = header.sections(endian, file).ok()?;
    let symbols = sections.symbols(endian, file, elf::SHT_SYMTAB).ok()?;
    let found = symbols
        .iter()
        .find(|symbol| symbols.symbol_name(endian, symbol) == Ok(name.as_bytes()))?;
    Some(found.st_value(endian))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ElfFile, elf_file};

    const BASE: u64 = 0x8020_0000;

    fn file(blob: u64) -> ElfFile {
        ElfFile {
            segments: vec![
                (BASE, BASE, b"code".to_vec(), 4),
                (BASE + 0x1000, BASE + 0x1000, b"data".to_vec(), 0x2000),
            ],
            symbols: vec![("other".into(), 1), (BLOB_SYMBOL.into(), blob)],
            ..ElfFile::default()
        }
    }

    #[test]
    fn it_is_flattened_up_to_the_blob() {
        let hypervisor =
            Hypervisor::parse(&elf_file(&file(BASE + 0x3000)), BASE).expect("a hypervisor");
        assert_eq!(hypervisor.blob, BASE + 0x3000);
        assert_eq!(hypervisor.bytes.len(), 0x3000);
        assert_eq!(&hypervisor.bytes[..5], b"code\0");
        assert_eq!(&hypervisor.bytes[0x1000..0x1005], b"data\0");
    }

    #[test]
    fn what_executes_on_the_chip_is_known_by_its_symbols() {
        let onchip = |begin: u64| {
            let mut file = file(BASE + 0x3000);
            let places = [begin, begin + 0x1000, begin + 0x1800];
            let places = ONCHIP_PLACES.into_iter().zip(places);
            let objects = ONCHIP_OBJECTS.into_iter().zip(1..);
            let symbols = places.chain(objects);
            file.symbols
                .extend(symbols.map(|(name, value)| (name.to_owned(), value)));
            Hypervisor::parse(&elf_file(&file), BASE)
                .expect("a hypervisor")
                .onchip
        };
        assert_eq!(onchip(BASE), None);
        let there = onchip(0x800_0000).expect("it is there");
        assert_eq!(there.text, Extent::new(0x800_0000, 0x1000));
        assert_eq!(there.rest, 0x800_1800);
        assert_eq!(there.kept([0; 5]), 1);
        assert_eq!(
            there.kept([1, 10, 100, 1000, 10000]),
            1 + 2 + 30 + 400 + 5000 + 60000
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refusal =
            |file: &ElfFile| Hypervisor::parse(&elf_file(file), BASE).expect_err("a refusal");
        assert!(refusal(&file(BASE + 0x2000)).contains("has a segment at"));
        assert!(refusal(&file(BASE + 0x3010)).contains("not at a page"));
        assert!(refusal(&file(BASE - 0x1000)).contains("out of reach"));
        assert!(refusal(&ElfFile::default()).contains("has no symbol"));
        let elsewhere = ElfFile {
            entry: BASE + 2,
            ..file(BASE + 0x3000)
        };
        assert!(refusal(&elsewhere).contains("is entered at"));
        assert!(
            Hypervisor::parse(b"raw", BASE)
                .expect_err("a refusal")
                .contains("not an ELF")
        );
    }
}
