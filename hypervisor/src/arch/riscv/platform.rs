//! What the platform's devicetree says of the machine, compared with what the system needs.

use hermit_dtb::Dtb;
use tactus_abi::blob::Blob;

/// What the machine lacks.
#[derive(Clone, Copy, Debug)]
pub enum Lack {
    /// No devicetree to read.
    Devicetree,
    /// A hart of this id.
    Hart(u64),
    /// An extension, on a hart.
    Extension(&'static str, u64),
    /// Memory in the range the system was built for.
    Memory,
    /// The `time` CSR runs at another rate (ticks per second).
    Timebase(u64),
}

/// Checks the machine described by the devicetree at `address` against the system.
pub fn check(address: u64, blob: &Blob) -> Result<(), Lack> {
    // Safety: the firmware hands over the address of a devicetree, which the reader checks by its magic; nothing
    // writes there before the guests are loaded.
    let dtb = unsafe { Dtb::from_raw(address as *const u8) }.ok_or(Lack::Devicetree)?;
    if let Some(hz) = dtb.get_property("/cpus", "timebase-frequency").map(number)
        && hz != u64::from(blob.header.timebase_hz)
    {
        return Err(Lack::Timebase(hz));
    }
    for hart in blob.harts {
        let mut found = false;
        for node in dtb.enum_subnodes("/cpus") {
            // "/cpus/" and a node's name.
            let mut path = [0; 64];
            let Some(path) = join(&mut path, "/cpus/", node) else {
                continue;
            };
            if !node.starts_with("cpu@")
                || dtb.get_property(path, "reg").map(number) != Some(hart.id)
            {
                continue;
            }
            found = true;
            let isa = dtb.get_property(path, "riscv,isa").unwrap_or_default();
            let isa = core::str::from_utf8(isa)
                .unwrap_or("")
                .trim_end_matches('\0');
            let letters = isa.split('_').next().unwrap_or("");
            if !letters
                .get(4..)
                .is_some_and(|letters| letters.contains('h'))
            {
                return Err(Lack::Extension("h", hart.id));
            }
            for wanted in ["sstc", "zba", "zbb", "zbs"] {
                if !isa.split('_').any(|extension| extension == wanted) {
                    return Err(Lack::Extension(wanted, hart.id));
                }
            }
        }
        if !found {
            return Err(Lack::Hart(hart.id));
        }
    }
    let (need, size) = (blob.header.ram_base, blob.header.ram_size);
    let there = dtb
        .enum_subnodes("/")
        .filter(|node| node.starts_with("memory@"))
        .any(|node| {
            let mut path = [0; 64];
            let reg = join(&mut path, "/", node).and_then(|path| dtb.get_property(path, "reg"));
            reg.and_then(|reg| reg.split_at_checked(8))
                .is_some_and(|(base, length)| {
                    let base = number(base);
                    base <= need && need.saturating_add(size) <= base.saturating_add(number(length))
                })
        });
    if there { Ok(()) } else { Err(Lack::Memory) }
}

fn join<'a>(buffer: &'a mut [u8; 64], parent: &str, node: &str) -> Option<&'a str> {
    let length = parent.len() + node.len();
    let path = buffer.get_mut(..length)?;
    path[..parent.len()].copy_from_slice(parent.as_bytes());
    path[parent.len()..].copy_from_slice(node.as_bytes());
    core::str::from_utf8(path).ok()
}

/// A big-endian number of at most 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .take(8)
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}
