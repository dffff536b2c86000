//! Any bytes as the devicetree that the firmware hands to the hypervisor.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tactus_hypervisor::devicetree::{Token, Tokens};

fuzz_target!(|bytes: &[u8]| {
    let Some(mut tokens) = Tokens::new(bytes) else {
        return;
    };
    // Each token takes four bytes at least.
    for _ in 0..bytes.len() / 4 + 1 {
        match tokens.next() {
            None | Some(Token::Finish) => return,
            Some(_) => {}
        }
    }
    panic!("more tokens than bytes");
});
