//! `tactus build`: makes the boot image of a checked system.
//!
//! The image is flat; the firmware enters its first byte. It holds the hypervisor with its zeroed memory, the
//! system blob at the hypervisor's symbol `__tactus_blob`, and, from page to page, what each VM's
//! memory is filled with whenever it starts. The same inputs give the same bytes.

pub(crate) mod blob;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use tactus_abi::blob::onchip::{self, Memory};
use tactus_abi::map::PAGE_SIZE;

use crate::artifacts::Artifacts;
use crate::check::{self, Verdict, check_file, check_file_for};
use crate::cli::BuildArguments;
use crate::config::{self, Config, Nanoseconds, Size};
use crate::plan::{self, ConsoleLine, GivenInterrupt, Plan};
use crate::problem::{Code, Problem, Refusal, Weight, count, io_reason};
use crate::run::board::reloads::Watched;

/// A boot image and what is needed to boot it.
#[derive(Clone, Debug)]
pub struct Image {
    /// The flat image: entered at its first byte, at 0x8020_0000.
    pub bytes: Vec<u8>,
    /// The VMs' names; VM `n` writes to console stream `n + 1`.
    pub vms: Vec<String>,
    /// Of each VM, the harts, as bits, that may run a real-time vCPU of its configuration.
    pub real_time: Vec<u64>,
    /// vCPUs of all VMs, with those that guests may make.
    pub vcpus: usize,
    /// The vCPUs whose reload costs can be measured.
    pub reloads: Vec<Watched>,
    /// Harts the machine must have (QEMU's `-smp`).
    pub harts: usize,
    /// Bytes of memory the machine must have (QEMU's `-m`).
    pub memory: u64,
    /// Ticks of the `time` CSR per second.
    pub timebase_hz: u32,
    /// Name of the platform's profile, "qemu-virt".
    pub platform: String,
    /// The design that its fabric is loaded with.
    pub design: Option<String>,
    /// What carries the consoles.
    pub line: ConsoleLine,
    /// The interrupts of devices that VMs have.
    pub interrupts: Vec<GivenInterrupt>,
    /// Whether a VM has a PCI function.
    pub has_functions: bool,
    /// How often at most a device interrupts a real-time vCPU's hart.
    pub service_period: Nanoseconds,
    /// The hypervisor's ELF file, for its section sizes and symbols.
    pub hypervisor: PathBuf,
    /// The VMs' image files, for their symbols.
    pub guests: Vec<Option<PathBuf>>,
    /// The VMs' memory.
    pub memories: Vec<Memory>,
    /// The accelerators that the VMs share, as they were planned; without the bitstreams.
    pub accelerators: Option<plan::Accelerators>,
}

/// Reads, checks and builds the system that `file` describes; warnings go to stderr.
///
/// # Errors
/// Every error found, as one diagnostic; render it with `{:?}`.
pub fn build_file(file: &Path) -> miette::Result<Image> {
    build_file_with(file, &Artifacts::chosen())
}

/// Like [`build_file`], with artifacts from elsewhere.
///
/// # Errors
/// Every error found, as one diagnostic; render it with `{:?}`.
pub fn build_file_with(file: &Path, artifacts: &Artifacts) -> miette::Result<Image> {
    build_judged(check_file(file, artifacts))
}

/// Like [`build_file`], with what `edit` makes of the file's text and then `change` of the description before it is
/// checked.
///
/// # Errors
/// Every error found, as one diagnostic; render it with `{:?}`.
pub fn build_changed(
    file: &Path,
    edit: impl FnOnce(String) -> String,
    change: impl FnOnce(&mut Config),
) -> miette::Result<Image> {
    let read = Config::read_edited(file, edit).map(|(mut config, problems)| {
        change(&mut config);
        (config, problems)
    });
    let name = file.to_string_lossy().into_owned();
    build_judged(check::verdict(name, read, &Artifacts::chosen()))
}

/// Builds a system that has been judged; warnings go to stderr.
pub(crate) fn build_judged(verdict: Verdict) -> miette::Result<Image> {
    // In a line each: `tactus check` shows them in full.
    for warning in verdict.of_weight(Weight::Warning) {
        eprintln!("warning: {}", warning.in_a_line());
    }
    Ok(build(verdict)?)
}

/// Builds a system that has been judged.
///
/// # Errors
/// The verdict was against it.
///
/// # Panics
/// The hypervisor's own reader refuses the blob: a defect of this program.
pub fn build(verdict: Verdict) -> Result<Image, Refusal> {
    let none = no_image(&verdict);
    let (Some(plan), Some(hypervisor)) = (verdict.plan, verdict.hypervisor) else {
        let problems = verdict.problems.into_iter().chain(none).collect();
        return Err(Refusal::new(verdict.file, problems));
    };
    Ok(Image {
        bytes: image_bytes(&plan),
        vms: plan.vms.iter().map(|vm| vm.name.clone()).collect(),
        real_time: plan.vms.iter().map(real_time_harts).collect(),
        vcpus: plan.vms.iter().map(plan::Vm::most_vcpus).sum(),
        reloads: Watched::all(&plan),
        harts: plan.harts as usize,
        memory: plan.memory.size(),
        timebase_hz: plan.profile.timebase_hz,
        platform: plan.profile.name.clone(),
        design: plan.design.clone(),
        line: plan.line,
        interrupts: plan.interrupts(),
        has_functions: plan.vms.iter().any(|vm| !vm.functions.is_empty()),
        service_period: plan.profile.overheads.service_period,
        hypervisor,
        guests: verdict.guests,
        memories: plan.vms.iter().map(|vm| memory(&plan, vm)).collect(),
        accelerators: plan.accelerators.map(|accelerators| plan::Accelerators {
            bitstreams: plan::Bitstreams::default(),
            ..accelerators
        }),
    })
}

fn memory(plan: &Plan, vm: &plan::Vm) -> Memory {
    let regions = plan.regions(vm);
    let part = regions.iter().find(|region| region.kind == onchip::MEMORY);
    let part = part.map(blob::region_of);
    Memory::new(&blob::region_of(&regions[0]), part.as_ref())
}

/// What is wrong with wanting the boot image of a system that has none.
fn no_image(verdict: &Verdict) -> Option<Problem> {
    verdict.tiles.as_ref().map(|_| {
        Problem::new(
            Code::NoBootImage,
            "a system of tiles has no boot image: each tile has its VM's own",
            "say `tactus run`",
        )
    })
}

fn real_time_harts(vm: &plan::Vm) -> u64 {
    let real_time = vm.vcpus.iter();
    let real_time = real_time.filter(|vcpu| vcpu.class == config::Class::Rt);
    real_time
        .flat_map(|vcpu| &vcpu.harts)
        .fold(0, |harts, hart| harts | 1 << hart)
}

/// Rounds up to whole pages with zeros.
fn fill_page(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(PAGE_SIZE as usize), 0);
}

fn image_bytes(plan: &Plan) -> Vec<u8> {
    let base = plan.image.start;
    let blob_at = plan.hypervisor.bytes.len();
    // The blob's length does not depend on the addresses in it.
    let no_sources: Vec<Vec<u64>> = plan
        .vms
        .iter()
        .map(|vm| vec![0; vm.segments.len()])
        .collect();
    let blob_of = |sources: &[Vec<u64>]| match blob::blob(plan, sources) {
        Ok(bytes) => bytes,
        Err(error) => panic!("the system blob is unreadable: {}", error.message()),
    };
    let mut bytes = plan.hypervisor.bytes.clone();
    bytes.resize(blob_at + blob_of(&no_sources).len(), 0);
    let mut sources = Vec::new();
    for vm in &plan.vms {
        let mut own = Vec::new();
        for segment in &vm.segments {
            fill_page(&mut bytes);
            own.push(base + bytes.len() as u64);
            bytes.extend(&segment.bytes);
        }
        sources.push(own);
    }
    fill_page(&mut bytes);
    let blob = blob_of(&sources);
    bytes[blob_at..blob_at + blob.len()].copy_from_slice(&blob);
    assert_eq!(
        bytes.len() as u64,
        plan.image.size(),
        "the boot image has the size that memory was laid out for"
    );
    bytes
}

/// Carries the command out; the exit code is as `--help` says.
pub fn command(arguments: &BuildArguments) -> ExitCode {
    let machine = arguments.functions.known();
    let verdict = check_file_for(&arguments.file, &Artifacts::chosen(), machine);
    let code = check::exit_code(&verdict);
    check::print_problems(&verdict.problems);
    if let Some(problem) = no_image(&verdict) {
        check::print_problems(&[problem]);
        return ExitCode::from(1);
    }
    let image = match build(verdict) {
        Ok(image) => image,
        Err(refusal) => {
            eprintln!("{refusal}");
            return code;
        }
    };
    let output = match &arguments.output {
        Some(output) => output.clone(),
        None => {
            let stem = arguments.file.file_stem().unwrap_or_default();
            Path::new(stem).with_extension("bin")
        }
    };
    if let Err(error) = std::fs::write(&output, &image.bytes) {
        eprintln!(
            "cannot write {}: {}; choose another place with `--output`",
            output.display(),
            io_reason(&error)
        );
        return ExitCode::from(2);
    }
    println!(
        "{}: {} for {}, {}, {} of memory",
        output.display(),
        Size(image.bytes.len() as u64),
        image.platform,
        count(image.harts, "hart"),
        Size(image.memory)
    );
    code
}
