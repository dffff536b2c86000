//! The side of the service: whatever a client stores in the channel's memory, and wherever it loads.

use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use tactus_call_window::{
    CLIENTS_MAX, IDENTITY_VALUE, SLOT_LIFE, SLOT_STATE, SLOT_WORDS, SLOTS_WORDS, VERSION_VALUE,
    Window, register, state, status,
};

const SERVICE: u64 = 0xfedc_ba98_7654_3210;

fn memory(words: &[u64]) -> Vec<AtomicU64> {
    words.iter().map(|word| AtomicU64::new(*word)).collect()
}

fn words(memory: &[AtomicU64]) -> Vec<u64> {
    memory
        .iter()
        .map(|word| word.load(Ordering::Relaxed))
        .collect()
}

/// Where a client may load, most often at or near a register or a call.
fn offset() -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => (0u32..40).prop_map(|client| register::CALL + 8 * client),
        2 => 0u32..64,
        1 => register::CALL - 8..register::CALL + 300,
        1 => any::<u32>(),
    ]
}

#[test]
fn a_window_has_clients_and_room_for_them() {
    let page = memory(&[0; SLOTS_WORDS]);
    for clients in [0, CLIENTS_MAX + 1, usize::MAX] {
        assert!(Window::new(&page, clients, SERVICE, 1).is_none());
    }
    assert!(Window::new(&page[1..], 1, SERVICE, 1).is_none());
    let window = Window::new(&page, CLIENTS_MAX, SERVICE, 0).expect("it has room");
    let read = |offset| window.access(offset, None, |_| unreachable!("no call"));
    assert_eq!(read(register::IDENTITY), IDENTITY_VALUE);
    let version = u64::from(VERSION_VALUE) | (CLIENTS_MAX as u64) << 32;
    assert_eq!(read(register::VERSION), version);
    assert_eq!(read(register::SERVICE), SERVICE);
    assert_eq!(read(register::DATA), 0);
    // Never 0, which a load gets where nothing is.
    assert_eq!(read(register::LIFE), 1);
    // By parts.
    assert_eq!(read(register::IDENTITY + 4), IDENTITY_VALUE >> 32);
    assert_eq!(read(register::SERVICE + 7), SERVICE >> 56);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A call reads its client's message and writes its client's slot, and the function has its client's data. Nothing
    /// else of the memory changes, and nothing at all without a call.
    #[test]
    fn an_access_concerns_its_client_alone(
        offset in offset(),
        store in proptest::option::of(any::<u64>()),
        clients in 1..=CLIENTS_MAX,
        size in SLOTS_WORDS..SLOTS_WORDS + 700,
        seed in any::<u64>(),
        life in 1..u64::MAX,
        reply in any::<[u64; 8]>(),
    ) {
        let before: Vec<u64> = (0..size as u64)
            .map(|word| seed.rotate_left(word as u32).wrapping_mul(2 * word + 1))
            .collect();
        let memory = memory(&before);
        let window = Window::new(&memory, clients, SERVICE, life).expect("it has room");
        let client = (offset as usize).wrapping_sub(register::CALL as usize) / 8;
        let is_call = store.is_none()
            && offset >= register::CALL
            && offset.is_multiple_of(8)
            && client < clients;
        let mut calls = 0;
        let value = window.access(offset, store, |call| {
            calls += 1;
            assert_eq!(call.client, client);
            assert_eq!(call.message, before[client * SLOT_WORDS..][..8]);
            let begun = memory[client * SLOT_WORDS + SLOT_STATE].load(Ordering::Relaxed);
            assert_eq!(begun, state::BEGUN);
            // All clients have as much, behind the slots, and no two the same.
            let data = (size - SLOTS_WORDS) / clients / 8 * 8;
            assert_eq!(call.data.len(), data);
            if let Some(first) = call.data.first() {
                assert!(std::ptr::eq(first, &memory[SLOTS_WORDS + client * data]));
            }
            reply
        });
        let mut wanted = before;
        if is_call {
            let slot = &mut wanted[client * SLOT_WORDS..];
            slot[..8].copy_from_slice(&reply);
            slot[SLOT_STATE] = state::REPLIED;
            slot[SLOT_LIFE] = life;
            prop_assert_eq!(value, status::REPLIED);
        } else if store.is_some() {
            prop_assert_eq!(value, 0);
        } else if offset >= register::CALL {
            prop_assert_eq!(value, status::REFUSED);
        }
        prop_assert_eq!(calls, usize::from(is_call));
        prop_assert_eq!(words(&memory), wanted);
    }
}
