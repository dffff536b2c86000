//! The pace of time, and the variants of the engine that its handlers are compiled for.

use std::marker::PhantomData;

/// The pace of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Pace {
    /// One cycle an instruction, and nothing else.
    Fast,
    /// The costs of the profile's pipeline, caches, TLBs and memory.
    Timed,
}

/// A variant of the engine. Handlers are generic in it, so that what a run does not ask for costs it nothing.
pub(crate) trait Variant: 'static {
    /// Whether accesses, jumps and walks are charged for.
    const TIMED: bool;
    /// Whether loads and stores are [weakly ordered](crate::weak_memory).
    const WEAK: bool;
}

/// [`Pace::Fast`].
pub(crate) struct Fast;

impl Variant for Fast {
    const TIMED: bool = false;
    const WEAK: bool = false;
}

/// [`Pace::Timed`].
pub(crate) struct Timed;

impl Variant for Timed {
    const TIMED: bool = true;
    const WEAK: bool = false;
}

/// A variant with weakly ordered loads and stores.
pub(crate) struct Weak<V>(PhantomData<V>);

impl<V: Variant> Variant for Weak<V> {
    const TIMED: bool = V::TIMED;
    const WEAK: bool = true;
}
