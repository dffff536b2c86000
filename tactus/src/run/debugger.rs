//! gdb for a system: an inferior for each VM, and a script that gets gdb there with all symbols.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, WrapErr};
use object::Object;
use tactus_board::gdb::Guest;

use super::board::find_firmware;
use crate::image::Image;

/// Where the script goes.
pub const SCRIPT: &str = "build/run/tactus.gdb";
/// Where the firmware is loaded.
const FIRMWARE_BASE: u64 = 0x8000_0000;

/// The VMs as the board tells them apart: the hypervisor gives VM `n` of the system the VMID `n + 1`.
pub fn guests(vms: &[String]) -> Vec<Guest> {
    (1..)
        .zip(vms)
        .map(|(vmid, name)| Guest {
            vmid,
            name: name.clone(),
        })
        .collect()
}

/// Writes the script for a system that waits for gdb at `port`. Gives its path.
///
/// # Errors
/// It cannot be written.
pub fn write_script(image: &Image, port: u16) -> miette::Result<PathBuf> {
    let path = PathBuf::from(SCRIPT);
    let firmware = find_firmware().ok().and_then(|path| symbols_of(&path));
    let text = script(image, port, firmware.as_deref());
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&path, text))
        .into_diagnostic()
        .wrap_err_with(|| format!("the script {SCRIPT} for gdb cannot be written"))?;
    Ok(path)
}

/// The file with the firmware's symbols, where its package has one.
fn symbols_of(firmware: &Path) -> Option<PathBuf> {
    let elf = fs::canonicalize(firmware).ok()?.with_extension("elf");
    has_symbols(&elf).then_some(elf)
}

/// Whether a file is an ELF file with symbols.
fn has_symbols(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| {
        object::File::parse(&*bytes).is_ok_and(|file| file.symbols().next().is_some())
    })
}

/// What gdb is to do.
fn script(image: &Image, port: u16, firmware: Option<&Path>) -> String {
    let mut text = format!(
        "# Made by `tactus run`: inferior 1 is the hypervisor and the firmware, each further one a VM.\n\
         set pagination off\nset confirm off\nset schedule-multiple on\n\
         set architecture riscv:rv64\nset sysroot /\n\
         file {}\ntarget remote 127.0.0.1:{port}\n",
        quoted(&image.hypervisor)
    );
    // Writing to a string does not fail.
    if let Some(firmware) = firmware {
        let _ = writeln!(
            text,
            "add-symbol-file {} -o {FIRMWARE_BASE:#x}",
            quoted(firmware)
        );
    }
    for ((inferior, vm), file) in (2..).zip(&image.vms).zip(&image.guests) {
        // gdb asks only for the first inferior which registers there are. To take back a description that was never set
        // makes it ask for this one.
        let _ = writeln!(text, "# {vm}\ninferior {inferior}\nunset tdesc filename");
        let _ = match file.as_deref().filter(|path| has_symbols(path)) {
            Some(path) => writeln!(text, "file {}", quoted(path)),
            None => writeln!(text, "# Its image has no symbols."),
        };
    }
    text.push_str("inferior 1\nset confirm on\nmonitor vms\n");
    text
}

/// A path as gdb's commands take it.
fn quoted(path: &Path) -> String {
    // gdb stays where it was started, and so do the paths: not relative to the script.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let text = path.display().to_string();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vm_has_the_vmid_that_the_hypervisor_gives_it() {
        let guests = guests(&["linux".to_owned(), "freertos".to_owned()]);
        let told: Vec<_> = guests.iter().map(|g| (g.vmid, g.name.as_str())).collect();
        assert_eq!(told, [(1, "linux"), (2, "freertos")]);
    }

    #[test]
    fn a_path_with_spaces_is_one_word() {
        assert_eq!(quoted(Path::new("/a b/c\"d")), "\"/a b/c\\\"d\"");
    }
}
