//! A virtio PCI function: what its capabilities say, and how it is begun.

mod driver;

use driver::function::{BASE, DEVICE, Model, NOTIFY, SPACE, WINDOW, garbled};
use proptest::prelude::*;
use tactus_virtio::function::{Function, Lack};
use tactus_virtio::requester::Parts;

#[test]
fn a_function_is_found_and_begun() {
    let model = Model::new();
    assert!(Function::is_there(&&model, SPACE, 2) && !Function::is_there(&&model, SPACE, 1));
    let function = Function::find(&model, SPACE, WINDOW).expect("its structures are there");
    assert_eq!(
        function.begin(1 << 9 | 1 << 13),
        Ok(1 << 32 | 1 << 33 | 1 << 9)
    );
    // The features of the upper half were written last.
    assert_eq!((model.word(8), model.word(12)), (1, 3));
    let parts = Parts::at(0x8020_0000, 32);
    let address = function.set_queue(1, 32, parts).expect("it has that queue");
    assert_eq!(address, BASE + u64::from(NOTIFY) + 12);
    assert_eq!(model.word(32), 0x8020_0000);
    assert_eq!(model.word(40), 0x8020_0200);
    assert_eq!(model.word(48), 0x8020_0244);
    assert_eq!(model.word(28) & 0xffff, 1);
    function.go();
    assert_eq!(model.word(20) & 0xff, 15);
    function.notify(address, 1);
    assert_eq!(model.word(NOTIFY as usize + 12), 1);
    model.registers.borrow_mut()[DEVICE as usize..][..4].copy_from_slice(&[1, 2, 3, 4]);
    assert_eq!(function.configuration(0), 0x0403_0201);
    assert_eq!(
        (
            function.configuration(0x0ffd),
            function.configuration(0x1000)
        ),
        (0, 0)
    );
    model.registers.borrow_mut()[20] |= 64;
    assert!(function.needs_reset());
}

#[test]
fn a_function_that_is_not_in_order_is_refused() {
    let begin = |change: fn(&mut Model)| {
        let mut model = Model::new();
        change(&mut model);
        let function = Function::find(&model, SPACE, WINDOW)?;
        function.begin(0)?;
        function.set_queue(0, 32, Parts::at(0, 32))
    };
    assert!(begin(|_| ()).is_ok());
    assert_eq!(begin(|model| model.stuck = true), Err(Lack::Reset));
    assert_eq!(begin(|model| model.stubborn = true), Err(Lack::Features));
    assert_eq!(begin(|model| model.features = 1 << 9), Err(Lack::Features));
    assert_eq!(begin(|model| model.entries = 16), Err(Lack::Queue));
    assert_eq!(begin(|model| model.notify = 0x400), Err(Lack::Structure));
    // No list; one that leads into the header; one that is a circle; a register that is none.
    assert_eq!(
        begin(|model| model.space.get_mut()[0x34] = 0),
        Err(Lack::Structure)
    );
    assert_eq!(
        begin(|model| model.space.get_mut()[0x34] = 0x10),
        Err(Lack::Structure)
    );
    assert_eq!(
        begin(|model| model.space.get_mut()[0x51] = 0x40),
        Err(Lack::Structure)
    );
    assert_eq!(
        begin(|model| model.space.get_mut()[0x88] = 6),
        Err(Lack::Structure)
    );
    // A structure that ends behind the window, begins in front of it, is too short, or is not aligned.
    assert_eq!(
        begin(|model| model.space.get_mut()[0x8e] = 0x20),
        Err(Lack::Structure)
    );
    assert_eq!(
        begin(|model| model.space.get_mut()[0x23] = 0x3f),
        Err(Lack::Structure)
    );
    assert_eq!(
        begin(|model| model.space.get_mut()[0x91] = 0),
        Err(Lack::Structure)
    );
    assert_eq!(
        begin(|model| model.space.get_mut()[0x8c] = 2),
        Err(Lack::Structure)
    );
}

/// What the fuzzer begins with, and has found.
#[test]
fn the_corpus_leads_nowhere() {
    let count = driver::any::each_of_corpus("virtio_function", garbled);
    assert!(count >= 3, "the corpus has {count} files");
}

proptest! {
    /// Neither a space of garbage nor one with a few wrong bytes leads to an access that is outside.
    #[test]
    fn garbage_leads_nowhere(
        space in proptest::collection::vec(any::<u8>(), 256),
        few in proptest::collection::vec((0x30..0x98_u8, any::<u8>()), 0..6),
    ) {
        garbled(&(0..=255).zip(space).flat_map(|(at, byte)| [at, byte]).collect::<Vec<u8>>());
        garbled(&few.into_iter().flat_map(|(at, byte)| [at, byte]).collect::<Vec<u8>>());
    }
}
