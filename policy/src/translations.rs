//! When translations that a hart has cached are not those of the vCPU that it runs next.
//!
//! A hart caches translations by VM (`hgatp.VMID`) and by the guest's own address spaces (`satp.ASID`), which each vCPU
//! of a VM numbers for itself. So the vCPUs of a VM must not meet each other's on a hart, nor their own of a time
//! before they changed them on another hart.

/// The vCPU with number `vcpu` in its VM runs on a hart, where `last` is what this has noted for the VM; initially 0.
/// `came`: another hart has run it since this one did, or this one never has. Whether translations that are cached for
/// the VM are to be dropped.
#[inline(always)]
pub fn enter(last: &mut u8, vcpu: u8, came: bool) -> bool {
    let number = vcpu + 1;
    // Noted in any case: a vCPU that came is the last one, too.
    let is_other = core::mem::replace(last, number) != number;
    came | is_other
}

#[cfg(test)]
mod tests {
    use super::*;

    const HARTS: usize = 2;
    const VCPUS: usize = 3;
    /// Of this length all histories are tried: 6^7 = 279,936.
    const LENGTH: usize = 7;

    #[derive(Clone)]
    struct Model {
        last: [u8; HARTS],
        loaded_on: [usize; VCPUS],
        /// Of which vCPU, and which of its lives on a hart, each hart has cached translations.
        cached: [[Option<u32>; VCPUS]; HARTS],
        /// Counts the moves of each vCPU.
        life: [u32; VCPUS],
    }

    fn try_all(model: &Model, length: usize) {
        if length == 0 {
            return;
        }
        for hart in 0..HARTS {
            for vcpu in 0..VCPUS {
                let mut next = model.clone();
                let came = next.loaded_on[vcpu] != hart;
                next.life[vcpu] += u32::from(came);
                next.loaded_on[vcpu] = hart;
                if enter(&mut next.last[hart], vcpu as u8, came) {
                    next.cached[hart] = [None; VCPUS];
                }
                for (of, life) in next.cached[hart].iter().enumerate() {
                    let own = of == vcpu && *life == Some(next.life[vcpu]);
                    assert!(
                        life.is_none() || own,
                        "hart {hart}: vCPU {vcpu} meets {of}'s"
                    );
                }
                next.cached[hart][vcpu] = Some(next.life[vcpu]);
                try_all(&next, length - 1);
            }
        }
    }

    #[test]
    fn no_vcpu_meets_translations_of_another_or_old_ones() {
        let nowhere = HARTS;
        let start = Model {
            last: [0; HARTS],
            loaded_on: [nowhere; VCPUS],
            cached: [[None; VCPUS]; HARTS],
            life: [0; VCPUS],
        };
        try_all(&start, LENGTH);
    }

    #[test]
    fn a_vcpu_that_goes_on_keeps_its_own() {
        let mut last = 0;
        assert!(enter(&mut last, 0, true));
        assert!(!enter(&mut last, 0, false));
        assert!(enter(&mut last, 1, false));
        assert!(!enter(&mut last, 1, false));
    }
}
