//! A VM that turns hostile amid a run: its harts go on in the guest of `tactus attack`, with the VM's rights.
//!
//! The guest's image and a devicetree are written into the VM's memory, and the first hart that is in the VM gets the
//! state in which the hypervisor starts a guest. The others that are in it stop, so that nothing else of the VM writes
//! to that memory; the guest starts them again. The hypervisor has no part in it: of its memory and of the registers
//! that it has for itself nothing changes. When it starts the VM again, it loads what it always loads.

use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, miette};
use tactus_abi::blob::onchip::Memory;
use tactus_abi::map::PAGE_SIZE;
use tactus_board::board::Board;
use tactus_board::privileged::number::{
    SCOUNTEREN, SENVCFG, VSATP, VSCAUSE, VSEPC, VSIE, VSSCRATCH, VSSTATUS, VSTIMECMP, VSTVAL,
    VSTVEC,
};
use tactus_board::privileged::{Mode, Privilege};

use crate::attack::catalog::{ATTACKS, Attack, Needs};
use crate::attack::plan::Candidate;
use crate::attack::replace::arguments;
use crate::attack::run::Lab;
use crate::devicetree::devicetree_with;
use crate::plan::{LoadSegment, Plan};

/// The guest-writable CSRs that a guest starts with: `Context::reset` in `hypervisor/src/arch/riscv/context.rs`.
const CSRS: [(u16, u64); 11] = [
    (VSIE, 0),
    (VSTVEC, 0),
    (VSSCRATCH, 0),
    (VSEPC, 0),
    (VSCAUSE, 0),
    (VSTVAL, 0),
    (VSATP, 0),
    (VSTIMECMP, u64::MAX),
    (SENVCFG, 0),
    (SCOUNTEREN, 0b111),
    // UXL is 64; interrupts and floating point are off.
    (VSSTATUS, 2 << 32),
];
/// `a0` and `a1`.
const ARGUMENTS: [usize; 2] = [10, 11];
/// `a6` and `a7` of the call by which a hart stops itself (SBI specification, HSM extension, `hart_stop`).
const HART_STOP: [(usize, u64); 2] = [(16, 1), (17, 0x48_53_4d)];
/// The instruction that makes a call.
const ECALL: [u8; 4] = 0x0000_0073_u32.to_le_bytes();

/// What a VM needs to turn hostile.
#[derive(Debug)]
pub struct Takeover {
    /// Without images.
    plan: Plan,
    vm: usize,
    memory: Memory,
    entry: u64,
    /// The address of a call in the image.
    call: u64,
    /// The hostile guest's file, for its symbols.
    file: Option<PathBuf>,
    /// Its image.
    image: Vec<LoadSegment>,
    /// What it may do: what the VM has the rights for.
    attacks: Vec<&'static Attack>,
}

impl Takeover {
    /// Of a VM of a system, by that attack, or by all that it has the rights for. `memories` are those of all VMs.
    ///
    /// # Errors
    /// There is no such VM, it is too small, or it lacks what the attack needs: why, and what to do about it.
    pub fn of(
        lab: &Lab,
        memories: &[Memory],
        name: &str,
        attack: Option<&'static Attack>,
    ) -> Result<Self, [String; 2]> {
        let vms = lab.candidates();
        let Some(vm) = vms.iter().position(|vm| vm.name == name) else {
            let names: Vec<&str> = vms.iter().map(|vm| &*vm.name).collect();
            return Err([
                format!("there is no VM `{name}`"),
                format!("the system has {}", names.join(", ")),
            ]);
        };
        let attacks = attacks(&vms[vm], attack)?;
        let (taken, file) = lab.taken_over(vm).map_err(|refusal| {
            let problems = refusal.problems().iter();
            let all: Vec<String> = problems.map(|problem| problem.in_a_line()).collect();
            [
                format!("VM `{name}` cannot hold the hostile guest"),
                all.join("; "),
            ]
        })?;
        let mut image = taken.segments;
        // The last one is the devicetree, which is another one in each run.
        image.pop();
        let call = image.iter().find_map(call).ok_or_else(|| {
            let help = "please report it".to_owned();
            ["the hostile guest makes no calls".to_owned(), help]
        })?;
        let mut plan = lab.plan().clone();
        plan.hypervisor.bytes = Vec::new();
        for vm in &mut plan.vms {
            vm.segments = Vec::new();
        }
        Ok(Self {
            plan,
            vm,
            memory: memories[vm],
            entry: taken.entry,
            call,
            file,
            image,
            attacks,
        })
    }

    /// What the VM may do.
    pub fn attacks(&self) -> &[&'static Attack] {
        &self.attacks
    }

    /// The address at which it goes on.
    pub const fn entry(&self) -> u64 {
        self.entry
    }

    /// The VM, and the file of its hostile guest.
    pub fn guest(&self) -> (usize, Option<&Path>) {
        (self.vm, self.file.as_deref())
    }

    /// The bytes of the image, which results follow from.
    pub fn image(&self) -> impl Iterator<Item = &[u8]> {
        self.image.iter().map(|segment| &*segment.bytes)
    }

    /// Lets the first of these harts, all of which the VM has, go on in the hostile guest, and the others stop.
    ///
    /// # Errors
    /// It cannot be written, which would be this program's fault.
    pub fn strike(
        &self,
        board: &mut Board,
        harts: &[usize],
        attack: &Attack,
        seed: u64,
    ) -> miette::Result<()> {
        let arguments = arguments(attack, seed, 0);
        let tree = devicetree_with(&self.plan, self.vm, Some(&arguments), None);
        let tree = LoadSegment {
            guest: self.plan.vms[self.vm].devicetree(),
            bytes: tree.into_diagnostic()?,
        };
        for segment in self.image.iter().chain([&tree]) {
            self.write(board, segment)?;
        }
        // The guest takes itself for the VM's first vCPU, whichever it is: that one starts all others.
        let first = ARGUMENTS.into_iter().zip([0, tree.guest]);
        for (number, &hart) in harts.iter().enumerate() {
            if number == 0 {
                start(board, hart, self.entry, first.clone())?;
            } else {
                start(board, hart, self.call, HART_STOP)?;
            }
        }
        Ok(())
    }

    /// Writes a segment page by page, as the pages of a VM's memory may lie anywhere.
    fn write(&self, board: &mut Board, segment: &LoadSegment) -> miette::Result<()> {
        let mut offset = segment.guest - self.memory.guest;
        let mut rest = &*segment.bytes;
        while !rest.is_empty() {
            let page = (PAGE_SIZE - offset % PAGE_SIZE) as usize;
            let (piece, behind) = rest.split_at(page.min(rest.len()));
            board
                .write(self.memory.host_at(offset), piece)
                .map_err(|error| miette!("the hostile guest cannot be written: {error}"))?;
            offset += piece.len() as u64;
            rest = behind;
        }
        Ok(())
    }
}

/// Gives a hart, which is in a VM, the state in which a guest begins, with these registers.
fn start(
    board: &mut Board,
    hart: usize,
    pc: u64,
    registers: impl IntoIterator<Item = (usize, u64)>,
) -> miette::Result<()> {
    let mode = Mode {
        privilege: Privilege::Supervisor,
        v: true,
    };
    board.set_mode(hart, mode);
    for (number, value) in CSRS {
        board.set_csr(hart, number, value).into_diagnostic()?;
    }
    for register in 1..32 {
        board.set_x(hart, register, 0);
    }
    for (register, value) in registers {
        board.set_x(hart, register, value);
    }
    board.set_pc(hart, pc);
    Ok(())
}

/// The address of a call in a part of an image: without translation all memory can be executed.
fn call(segment: &LoadSegment) -> Option<u64> {
    let mut places = segment.bytes.windows(ECALL.len()).zip(segment.guest..);
    let is_call = |(bytes, guest): &(&[u8], u64)| *bytes == ECALL && guest.is_multiple_of(2);
    places.find(is_call).map(|(_, guest)| guest)
}

/// The attack that is named, or all that a VM has the rights for.
fn attacks(
    vm: &Candidate,
    named: Option<&'static Attack>,
) -> Result<Vec<&'static Attack>, [String; 2]> {
    let Some(attack) = named else {
        let all = ATTACKS.iter().filter(|attack| vm.has(attack.needs));
        return Ok(all.collect());
    };
    if !vm.has(attack.needs) {
        let (name, needs) = (attack.name, Needs::words(attack.needs));
        return Err([
            format!(
                "VM `{}` lacks what the attack `{name}` uses: {needs}",
                vm.name
            ),
            "name another attack, or none for any that the VM has the rights for; `tactus attack --list` says what each needs"
                .to_owned(),
        ]);
    }
    Ok(vec![attack])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::catalog::find;

    #[test]
    fn a_call_is_found_where_one_can_be() {
        let bytes = [0x13, 0x73, 0, 0, 0, 0, 0x73, 0, 0, 0];
        let segment = |length: usize| LoadSegment {
            guest: 0x8020_0000,
            bytes: bytes[..length].to_vec(),
        };
        assert_eq!(call(&segment(bytes.len())), Some(0x8020_0006));
        assert_eq!(call(&segment(9)), None);
    }

    #[test]
    fn a_vm_attacks_by_what_it_has() {
        let mut vm = Candidate {
            name: "a".to_owned(),
            vcpus: 1,
            ..Candidate::default()
        };
        let all = |vm: &Candidate| attacks(vm, None).expect("some need nothing");
        let few = all(&vm);
        assert!(few.iter().all(|attack| attack.needs == Needs::Nothing));
        let refused = attacks(&vm, find("ring")).expect_err("it has no channel");
        assert_eq!(
            refused[0],
            "VM `a` lacks what the attack `ring` uses: a channel"
        );
        vm.channels = 1;
        let ring = attacks(&vm, find("ring")).expect("it has one");
        assert_eq!((ring.len(), ring[0].name), (1, "ring"));
        assert!(all(&vm).len() > few.len());
        let walk = attacks(&vm, find("walk")).expect("it needs nothing");
        assert_eq!(walk[0].name, "walk");
    }
}
