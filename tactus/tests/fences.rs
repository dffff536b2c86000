//! What the fences that one vCPU asks of another cost that one's hart.

use tactus::config::Nanoseconds;
use tactus::run::board::Options;
use tactus::run::board::paths::{Cause, End, Watch};
use tactus::run::machine::Platform;
use tactus_board::board::Pace;
use tactus_board::profile::Profile;

use crate::harness::{On, boot_text, once};

/// How long the board runs.
const TIME: Nanoseconds = Nanoseconds(80_000_000);
/// The interrupt by another hart: `scause`.
const FROM_ANOTHER_HART: u8 = 1;

/// Cycles on average of the way through the hypervisor on a hart whose vCPU another one asks for that fence.
fn cycles(fence: &str) -> f64 {
    let mut boot = boot_text(
        On::Board,
        &format!(
            "[system]\nplatform = \"soc\"\nharts = 2\n\
             [[vm]]\nname = \"load\"\nimage = \"@bench-load\"\nmemory = \"4MiB\"\nbootargs = \"load={fence}\"\n\
             [[vm.vcpu]]\nclass = \"be\"\nharts = [0]\n\
             [[vm.vcpu]]\nclass = \"be\"\nharts = [1]\n"
        ),
    );
    let mut options = Options::new(Profile::named("soc").expect("it comes with the board"));
    options.pace = Pace::Timed;
    options.paths = Some(Box::new(
        Watch::of(&boot.image, None).expect("it says where it looks"),
    ));
    boot.plan = boot.plan.limit(TIME).on(Platform::Board(Box::new(options)));
    let outcome = once(&boot);
    let facts = outcome.board.expect("it ran on the board");
    let fences = facts.paths.iter().filter(|(path, _)| {
        path.cause == Cause::Interrupt(FROM_ANOTHER_HART) && path.end == End::BackBestEffort
    });
    let all = fences
        .map(|(_, stretches)| stretches)
        .reduce(|all, one| all.and(one));
    let all = all.expect("fences were asked for");
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
