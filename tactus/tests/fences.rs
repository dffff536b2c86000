//! What the fences that one vCPU asks of another cost that one's hart.

use tactus::config::Nanoseconds;
use tactus::run::board::paths::End;

use crate::harness::stretches::{Span, of_interrupt};

/// The board is timed from reset on.
const SPAN: Span = Span {
    timed_from: 0,
    end: Nanoseconds(80_000_000),
};
/// The interrupt by another hart: `scause`.
const FROM_ANOTHER_HART: u8 = 1;

/// Cycles on average of the way through the hypervisor on a hart whose vCPU another one asks for that fence.
fn cycles(fence: &str) -> f64 {
    let system = format!(
        "[system]\nplatform = \"soc\"\nharts = 2\n\
         [[vm]]\nname = \"load\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load={fence}\"\n\
         [[vm.vcpu]]\nclass = \"be\"\nharts = [0]\n\
         [[vm.vcpu]]\nclass = \"be\"\nharts = [1]\n"
    );
    let all = of_interrupt(&system, SPAN, FROM_ANOTHER_HART, End::BackBestEffort);
    assert!(all.count > 1000, "{fence}: {}", all.count);
    all.mean()
}

/// A fence of instructions empties the hart's first-level cache of them, so that what comes after it is fetched from
/// the second level. One of translations, which Linux asks for at each change of a shared address space, does not.
#[test]
fn only_fences_of_instructions_empty_the_instruction_cache() {
    let (translations, instructions) = (cycles("sfence_vma"), cycles("fence_i"));
    assert!(
        instructions > translations + 100.0,
        "{instructions} cycles with a fence of instructions, {translations} with one of translations"
    );
}
