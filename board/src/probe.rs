//! Places in the code at which something is to happen: records, and stops.

/// Most harts of a board.
const HARTS: usize = 16;

/// The action when a hart reaches a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// Write down that it did, as the probe with this number.
    Record(u32),
    /// Stop the run before the instruction there.
    Stop,
}

/// The accesses to a place that are observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Loads, and `lr`.
    Reads,
    /// Stores, `sc` and atomics.
    Writes,
    /// Both.
    Accesses,
}

impl Watch {
    const fn takes(self, write: bool) -> bool {
        match self {
            Self::Reads => !write,
            Self::Writes => write,
            Self::Accesses => true,
        }
    }
}

/// Where a run is watched, by virtual address.
#[derive(Default)]
pub(crate) struct Probes {
    /// In the order of the addresses.
    places: Vec<(u64, Reaction)>,
    recorded: u32,
    /// By hart, where it stopped last, and how many instructions it had retired then.
    passed: [Option<(u64, u64)>; HARTS],
    /// First and last byte of what is watched, and for what.
    watches: Vec<(u64, u64, Watch)>,
}

impl Probes {
    /// Whether a probe may be at this physical address: whether one has the same place in a page.
    pub(crate) fn may_be_at(&self, physical: u64) -> bool {
        self.places
            .iter()
            .any(|(place, _)| place % 4096 == physical % 4096)
    }

    /// Forgets where harts stopped: they are elsewhere now.
    pub(crate) fn forget_passed(&mut self) {
        self.passed = [None; HARTS];
    }

    fn add(&mut self, place: u64, reaction: Reaction) {
        let index = self.places.partition_point(|(other, _)| *other <= place);
        self.places.insert(index, (place, reaction));
    }

    /// Adds a place to record at; gives the probe's number.
    pub(crate) fn record(&mut self, place: u64) -> u32 {
        let number = self.recorded;
        self.recorded += 1;
        self.add(place, Reaction::Record(number));
        number
    }

    /// Adds a place to stop at.
    pub(crate) fn stop(&mut self, place: u64) {
        if !self.stops_at(place) {
            self.add(place, Reaction::Stop);
        }
    }

    /// Whether there is a stop at `place`.
    pub(crate) fn stops_at(&self, place: u64) -> bool {
        self.places.contains(&(place, Reaction::Stop))
    }

    /// Takes away a place to stop at.
    pub(crate) fn remove_stop(&mut self, place: u64) {
        self.places
            .retain(|other| *other != (place, Reaction::Stop));
    }

    /// The actions at `pc`, in the order of their requests.
    pub(crate) fn at(&self, pc: u64) -> impl Iterator<Item = Reaction> {
        let begin = self.places.partition_point(|(place, _)| *place < pc);
        self.places[begin..]
            .iter()
            .take_while(move |(place, _)| *place == pc)
            .map(|(_, reaction)| *reaction)
    }

    /// Whether hart `index` (0 to 15) stops at `pc`, where there is a stop, after `instructions`. Where it stopped, it
    /// continues when it comes back before it has done anything.
    pub(crate) fn stops(&mut self, index: usize, pc: u64, instructions: u64) -> bool {
        let here = Some((pc, instructions));
        std::mem::replace(&mut self.passed[index % HARTS], here) != here
    }

    /// Lets hart `index` pass a stop at `pc` as if it had stopped there.
    pub(crate) fn pass(&mut self, index: usize, pc: u64, instructions: u64) {
        self.passed[index % HARTS] = Some((pc, instructions));
    }

    /// Watches the bytes from `first` to `last`.
    pub(crate) fn watch(&mut self, first: u64, last: u64, watch: Watch) {
        self.watches.push((first, last, watch));
    }

    /// Takes a watch back. Whether there was one.
    pub(crate) fn unwatch(&mut self, first: u64, last: u64, watch: Watch) -> bool {
        let place = self
            .watches
            .iter()
            .position(|other| *other == (first, last, watch));
        place.map(|place| self.watches.remove(place)).is_some()
    }

    /// Whether anything in the page of `address` is watched: then no access to it may go unseen.
    pub(crate) fn watches_page(&self, address: u64) -> bool {
        self.watches
            .iter()
            .any(|(first, last, _)| (first >> 12..=last >> 12).contains(&(address >> 12)))
    }

    /// The first watched byte that an access to `size` bytes at `address` touches.
    pub(crate) fn watched(&self, address: u64, size: u8, write: bool) -> Option<u64> {
        let end = address.saturating_add(u64::from(size) - 1);
        let mut hits = self
            .watches
            .iter()
            .filter(|(first, last, watch)| watch.takes(write) && address <= *last && *first <= end);
        hits.next().map(|(first, ..)| address.max(*first))
    }
}
