//! The steps of an attack, over restarts.

use core::fmt::Display;

use tactus_guest::{power, println, record, start};
use tactus_guest_hostile::{Page, Word};

/// Keeps count.
#[derive(Clone, Copy)]
pub struct Progress {
    page: Page,
}

impl Progress {
    /// Counts this start.
    pub fn new() -> Self {
        // SAFETY: the hostile guest's systems give it a channel with a page.
        let page = unsafe { Page::get() };
        page.count(Word::Boots);
        Self { page }
    }

    /// For another vCPU of the guest: nothing is counted.
    pub fn again() -> Self {
        // SAFETY: as above.
        let page = unsafe { Page::get() };
        Self { page }
    }

    /// How often the guest has started, this time included.
    pub fn boots(self) -> u64 {
        self.page.load(Word::Boots)
    }

    /// The next step to take, if it is below `steps`. It is marked as taken: if it kills the guest, the next life goes
    /// on behind it.
    pub fn next(self, steps: u64) -> Option<u64> {
        self.next_of(|step| (step < steps).then_some(step))
    }

    /// The next step to take as `get` knows it by its number; `None` when there is none of that number. Marked as taken
    /// like [`Progress::next`]'s.
    pub fn next_of<T>(self, get: impl FnOnce(u64) -> Option<T>) -> Option<T> {
        let step = self.page.load(Word::Step);
        let found = get(step)?;
        self.page.store(Word::Step, step + 1);
        Some(found)
    }

    /// The step was refused by an exception that the guest itself was given.
    pub fn trapped(self) {
        self.page.count(Word::Trapped);
    }

    /// The step went through, as it may.
    pub fn through(self) {
        self.page.count(Word::Through);
    }

    /// Nothing is left to do.
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
        record::pass(start::program());
        self.page.store(Word::Done, 1);
        power::off()
    }

    /// The hypervisor let something happen that it must not.
    pub fn breach(self, what: impl Display) -> ! {
        record::fail(start::program(), what);
        self.page.store(Word::Done, 1);
        power::off_failed()
    }
}
