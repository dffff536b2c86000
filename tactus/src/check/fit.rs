//! Whether image, initrd and devicetree fit a VM's memory together.

use tactus_abi::map::{DEVICETREE_SIZE, MEGAPAGE_SIZE, PAGE_SIZE, RAM_BASE};
use tactus_planning::placement::Extent;
use tactus_planning::stage2::GUEST_END;

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
    /// What is kept for real-time vCPUs that it makes.
    pub(super) rt_memory: Size,
    /// Where its bitstreams begin.
    pub(super) bitstreams: u64,
}

/// The VM's memory when its size is one that a VM can have, of a system that can have `most`.
fn memory(judge: &mut Judge<'_>, index: usize, most: Size) -> Option<Size> {
    let vm = &judge.config.vms[index];
    let memory = vm.memory.as_ref()?;
    let what = format!("{}: `memory`", vm.title());
    let show = |bytes| Size(bytes).to_string();
    let fits = |bytes| bytes < most.0 && bytes <= GUEST_END - RAM_BASE;
    if !judge.is_multiple(
        memory.value.0,
        MEGAPAGE_SIZE,
        &memory.span,
        &what,
        show,
        fits,
    ) {
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
            format!("use less than {most}, which is all the memory that the platform can have"),
        );
        return None;
    }
    Some(memory.value)
}

/// The memory kept for real-time vCPUs, when it leaves something for the rest.
fn rt_memory(judge: &mut Judge<'_>, index: usize, memory: Size) -> Option<Size> {
    let vm = &judge.config.vms[index];
    let Some(rt_memory) = &vm.rt_memory else {
        return Some(Size(0));
    };
    let what = format!("{}: `rt_memory`", vm.title());
    let show = |bytes| Size(bytes).to_string();
    let span = &rt_memory.span;
    let most = memory.0 - DEVICETREE_SIZE - PAGE_SIZE;
    let fits = |bytes| bytes <= most;
    if !judge.is_multiple(rt_memory.value.0, PAGE_SIZE, span, &what, show, fits) {
        return None;
    }
    if rt_memory.value.0 > most {
        judge.note(
            Code::ImageFit,
            span,
            rt_memory.value.to_string(),
            format!(
                "{what} is {}; of the VM's {memory} of memory it may take {} at most, as the devicetree and the image need some",
                rt_memory.value,
                Size(most)
            ),
            "make it smaller, or give the VM more `memory`",
        );
        return None;
    }
    Some(rt_memory.value)
}

/// What is at the end of a VM's memory beside its devicetree.
struct Kept {
    rt_memory: Size,
    /// Bytes of bitstreams, in whole pages.
    bitstreams: u64,
}

impl Kept {
    fn bytes(&self) -> u64 {
        DEVICETREE_SIZE + self.rt_memory.0 + self.bitstreams
    }

    /// All of it in words, and the verb that follows them.
    const fn words(&self) -> (&'static str, &'static str) {
        match (self.rt_memory.0, self.bitstreams) {
            (0, 0) => ("the devicetree", "leaves"),
            (_, 0) => ("the devicetree and `rt_memory`", "leave"),
            (0, _) => ("the devicetree and the bitstreams", "leave"),
            _ => ("the devicetree, `rt_memory` and the bitstreams", "leave"),
        }
    }
}

/// Lays a VM's memory out. `None`, noted, when that cannot be done.
pub(super) fn check(
    judge: &mut Judge<'_>,
    index: usize,
    files: GuestFiles,
    bitstreams: &[u8],
    most: Size,
) -> Option<Layout> {
    bootargs(judge, index);
    let memory = memory(judge, index, most)?;
    let rt_memory = rt_memory(judge, index, memory)?;
    let kept = Kept {
        rt_memory,
        bitstreams: (bitstreams.len() as u64).next_multiple_of(PAGE_SIZE),
    };
    let GuestFiles { image, initrd, .. } = files;
    let image = image?;
    // Memory that image and initrd may take: all but what is kept at the end.
    let free = Extent::new(RAM_BASE, memory.0.saturating_sub(kept.bytes()));
    let image_fits = segments(judge, index, memory, &kept, free, &image, most);
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
    let bitstreams = LoadSegment {
        guest: free.end,
        bytes: bitstreams.to_vec(),
    };
    let segments = from_image
        .chain(initrd)
        .chain([bitstreams])
        .filter(|segment| !segment.bytes.is_empty())
        .collect();
    Some(Layout {
        memory,
        entry: image.entry,
        segments,
        initrd: extent,
        rt_memory,
        bitstreams: free.end,
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
    kept: &Kept,
    free: Extent,
    image: &GuestImage,
    most: Size,
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
    let wanted = end
        .saturating_sub(RAM_BASE)
        .checked_add(kept.bytes())
        .and_then(|bytes| bytes.checked_next_multiple_of(MEGAPAGE_SIZE))
        .filter(|bytes| !below && *bytes <= most.0.min(GUEST_END - RAM_BASE));
    let (kept, leaves) = kept.words();
    judge.note(
        Code::ImageFit,
        &name.span,
        format!("{} takes {}", image.format, extent_text(extent)),
        format!(
            "the image of {} does not fit its {memory} of memory: {} is not all within {}, which is what {kept} at the end {leaves}",
            vm.title(),
            extent_text(extent),
            extent_text(free),
        ),
        match wanted {
            None => format!("link it at {}: a VM's memory begins at {}", Address(tactus_abi::map::RAW_IMAGE_BASE), Address(RAM_BASE)),
            Some(wanted) => format!("give the VM at least `memory = \"{}\"`", Size(wanted).to_string().replace(' ', "")),
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
            "create the file again, or leave `initrd` out",
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
