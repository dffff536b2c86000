//! The steps of an attack, across restarts.

use core::fmt::Display;

use tactus_guest::{devicetree, power, println, record, start, time};
use tactus_guest_hostile::{Page, Word};

/// The counters of an attack.
///
/// Boot arguments: with `every=N` only each N-th step is taken, from number `first=N` on.
#[derive(Clone, Copy)]
pub struct Progress {
    page: Page,
    every: u64,
    first: u64,
}

impl Progress {
    /// Opens the counters and counts this start.
    pub fn new() -> Self {
        // SAFETY: the hostile guest's systems give it a channel with a page.
        let page = unsafe { Page::get() };
        page.count(Word::Boots);
        let ended = page.load(Word::Ended);
        if ended != 0 {
            let ticks = time::now() - ended;
            page.store(Word::RestartMax, ticks.max(page.load(Word::RestartMax)));
            page.store(Word::Ended, 0);
        }
        Self::of(page)
    }

    /// Opens the counters for another vCPU of the guest, without counting.
    pub fn again() -> Self {
        // SAFETY: as above.
        let page = unsafe { Page::get() };
        Self::of(page)
    }

    fn of(page: Page) -> Self {
        Self {
            page,
            every: devicetree::number("every", 1),
            first: devicetree::number("first", 0),
        }
    }

    /// Number of starts of the guest, including this one.
    pub fn boots(self) -> u64 {
        self.page.load(Word::Boots)
    }

    /// Steps that were taken.
    pub fn taken(self) -> u64 {
        self.page.load(Word::Step)
    }

    /// The next step, if it is below `steps`. The step is marked as taken first: if it ends the guest, the next life
    /// continues with the step after it.
    pub fn next(self, steps: u64) -> Option<u64> {
        self.next_of(|step| (step < steps).then_some(step))
    }

    /// The next step, which `get` returns by its number; `None` if there is none of that number. Marked as taken
    /// like the steps of [`Progress::next`].
    pub fn next_of<T>(self, get: impl FnOnce(u64) -> Option<T>) -> Option<T> {
        let step = self.page.load(Word::Step);
        let found = get(self.first + step * self.every)?;
        self.page.store(Word::Step, step + 1);
        Some(found)
    }

    /// Notes that this life ends now, by the guest's own doing: how long the restart takes is measured from here.
    pub fn ends(self) {
        self.page.store(Word::Ended, time::now());
    }

    /// Counts a step that an exception in the guest refused.
    pub fn trapped(self) {
        self.page.count(Word::Trapped);
    }

    /// Counts a step that succeeded, as it may.
    pub fn through(self) {
        self.page.count(Word::Through);
    }

    /// Reports that all steps are done.
    pub fn done(self, attack: &str) -> ! {
        let [boots, steps, trapped, through] =
            [Word::Boots, Word::Step, Word::Trapped, Word::Through]
                .map(|word| self.page.load(word));
        println!(
            "{attack}: {steps} steps, {trapped} refused by an exception, {through} allowed, {boots} lives"
        );
        record::metric("hostile_steps", steps, "count");
        record::metric("hostile_trapped", trapped, "count");
        record::metric("hostile_through", through, "count");
        record::metric("hostile_boots", boots, "count");
        let restart = self.page.load(Word::RestartMax);
        if restart != 0 {
            record::metric("hostile_restart_max", restart, "ticks");
        }
        record::pass(start::program());
        self.page.store(Word::Done, 1);
        power::off()
    }

    /// Reports a step that the hypervisor must refuse, but did not.
    pub fn breach(self, what: impl Display) -> ! {
        record::fail(start::program(), what);
        self.page.store(Word::Done, 1);
        power::off_failed()
    }
}
