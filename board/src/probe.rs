//! Places in the code at which something is to happen: records, and stops.

/// Where a run is watched, by virtual address.
#[derive(Default)]
pub(crate) struct Probes {
    /// In order.
    places: Vec<u64>,
    /// The place at which the run stopped, and from which it is to go on.
    passed: Option<(usize, u64)>,
}

impl Probes {
    /// Whether a probe may be at this physical address: whether one has the same place in a page.
    pub(crate) fn may_be_at(&self, physical: u64) -> bool {
        self.places.iter().any(|place| place % 4096 == physical % 4096)
    }

    /// Adds a place.
    pub(crate) fn add(&mut self, place: u64) {
        if let Err(index) = self.places.binary_search(&place) {
            self.places.insert(index, place);
        }
    }

    /// Takes a place away.
    pub(crate) fn remove(&mut self, place: u64) {
        if let Ok(index) = self.places.binary_search(&place) {
            self.places.remove(index);
        }
    }

    /// Whether hart `index` is to stop at `pc`. Where it stopped, it goes on when it comes back first.
    pub(crate) fn stops(&mut self, index: usize, pc: u64) -> bool {
        if self.places.binary_search(&pc).is_err() || self.passed.take() == Some((index, pc)) {
            return false;
        }
        self.passed = Some((index, pc));
        true
    }
}
