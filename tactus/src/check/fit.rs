//! Whether image, initrd and devicetree fit a VM's memory together.

use tactus_abi::map::{DEVICETREE_SIZE, MEGAPAGE_SIZE, PAGE_SIZE, RAM_BASE};
use tactus_policy::placement::Extent;
use tactus_policy::stage2::GUEST_END;

use super::files::GuestFiles;
use super::judge::Judge;
use crate::config::{Address, Size};
use crate::guest_image::{GuestImage, extent_text};
use crate::plan::LoadSegment;
use crate::problem::Code;

/// Longest command line: what Linux keeps on RISC-V (`COMMAND_LINE_SIZE` with its NUL).
const BOOTARGS_MAX: usize = 1023;

/// A VM's memory at start.
pub(super) struct Layout {
    pub(super) memory: Size,
    pub(super) entry: u64,
    /// Image and initrd.
    pub(super) segments: Vec<LoadSegment>,
    pub(super) initrd: Option<Extent>,
}

/// The VM's memory when its size is one that a VM can have.
fn memory(judge: &mut Judge<'_>, index: usize) -> Option<Size> {
    let vm = &judge.config.vms[index];
    let memory = vm.memory.as_ref()?;
    let what = format!("`memory` of {}", vm.title());
    let show = |bytes| Size(bytes).to_string();
    if !judge.is_multiple(memory.value.0, MEGAPAGE_SIZE, &memory.span, &what, show) {
        return None;
    }
    if memory.value.0 > GUEST_END - RAM_BASE {
        judge.note(
            Code::OutOfRange,
            &memory.span,
            "too large",
            format!(
                "{what} ends past the last guest-physical address, {}",
                Address(GUEST_END - 1)
            ),
            "give it less",
        );
        return None;
    }
    Some(memory.value)
}

/// Lays a VM's memory out. `None`, noted, when that cannot be done.
pub(super) fn check(judge: &mut Judge<'_>, index: usize, files: GuestFiles) -> Option<Layout> {
    bootargs(judge, index);
    let memory = memory(judge, index)?;
    let GuestFiles { image, initrd, .. } = files;
    let image = image?;
    // Memory that image and initrd may take: all but the devicetree's at the end.
    let free = Extent::new(RAM_BASE, memory.0 - DEVICETREE_SIZE);
    let image_fits = segments(judge, index, memory, free, &image);
    let initrd = match initrd {
        Some(bytes) => Some(place_initrd(judge, index, free, &image, bytes)?),
        None => None,
    };
    if !image_fits {
        return None;
    }
    let extent = initrd
        .as_ref()
        .map(|segment| Extent::new(segment.guest, segment.bytes.len() as u64));
    let from_image = image.segments.into_iter().map(|segment| LoadSegment {
        guest: segment.guest,
        bytes: segment.bytes,
    });
    let segments = from_image
        .chain(initrd)
        .filter(|segment| !segment.bytes.is_empty())
        .collect();
    Some(Layout {
        memory,
        entry: image.entry,
        segments,
        initrd: extent,
    })
}

/// Judges a VM's command line.
fn bootargs(judge: &mut Judge<'_>, index: usize) {
    let vm = &judge.config.vms[index];
    let Some(bootargs) = &vm.bootargs else {
        return;
    };
    let text = &bootargs.value;
    if text.len() > BOOTARGS_MAX {
        judge.note(
            Code::OutOfRange,
            &bootargs.span,
            format!("{} bytes", text.len()),
            format!(
                "`bootargs` of {} are longer than {BOOTARGS_MAX} bytes",
                vm.title()
            ),
            "shorten them; Linux would cut them off",
        );
    }
    if text.contains(char::is_control) {
        judge.note(
            Code::WrongValue,
            &bootargs.span,
            "a control character",
            format!("`bootargs` of {} contain a control character", vm.title()),
            "part arguments by single spaces",
        );
    }
}

fn segments(
    judge: &mut Judge<'_>,
    index: usize,
    memory: Size,
    free: Extent,
    image: &GuestImage,
) -> bool {
    let vm = &judge.config.vms[index];
    let Some(name) = &vm.image else {
        return false;
    };
    let outside = image.segments.iter().find(|s| !free.contains(s.extent()));
    let Some(segment) = outside else {
        return true;
    };
    let extent = segment.extent();
    let end = image
        .segments
        .iter()
        .map(|s| s.extent().end)
        .max()
        .unwrap_or(0);
    let below = image.segments.iter().any(|s| s.guest < RAM_BASE);
    let end = end.clamp(RAM_BASE, GUEST_END);
    let wanted = (end - RAM_BASE + DEVICETREE_SIZE).next_multiple_of(MEGAPAGE_SIZE);
    judge.note(
        Code::ImageFit,
        &name.span,
        format!("{} takes {}", image.format, extent_text(extent)),
        format!(
            "the image of {} does not fit its {memory} of memory: {} is not all within {}, which is what the devicetree at the end leaves",
            vm.title(),
            extent_text(extent),
            extent_text(free)
        ),
        if below {
            format!("link it at {}: a VM's memory begins at {}", Address(tactus_abi::map::RAW_IMAGE_BASE), Address(RAM_BASE))
        } else {
            format!("give the VM at least `memory = \"{}\"`", Size(wanted).to_string().replace(' ', ""))
        },
    );
    false
}

/// Places the initrd as high as possible.
fn place_initrd(
    judge: &mut Judge<'_>,
    index: usize,
    free: Extent,
    image: &GuestImage,
    bytes: Vec<u8>,
) -> Option<LoadSegment> {
    let vm = &judge.config.vms[index];
    let name = vm.initrd.as_ref()?;
    let size = bytes.len() as u64;
    if size == 0 {
        judge.note(
            Code::BadImage,
            &name.span,
            "nothing in it",
            format!("the initrd of {} is empty", vm.title()),
            "make the file anew, or leave `initrd` out",
        );
        return None;
    }
    if let Some(guest) = highest_fit(free, image, size) {
        return Some(LoadSegment { guest, bytes });
    }
    judge.note(
        Code::ImageFit,
        &name.span,
        Size(size).to_string(),
        format!(
            "the initrd of {} does not fit its memory beside image and devicetree",
            vm.title()
        ),
        "give the VM more `memory`",
    );
    None
}

/// The highest page at which `size` bytes are past the image and within what is free. Not below the image:
/// some kernels do not map memory before their first byte.
fn highest_fit(free: Extent, image: &GuestImage, size: u64) -> Option<u64> {
    let image_end = image.segments.iter().map(|s| s.extent().end).max();
    let start = free.end.checked_sub(size)? / PAGE_SIZE * PAGE_SIZE;
    (start >= image_end.unwrap_or(free.start)).then_some(start)
}
