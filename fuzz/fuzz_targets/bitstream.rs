//! Any bytes as a bitstream; those that are one are one after they are sealed again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tactus_abi::bitstream;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(header) = bitstream::check(bytes) {
        let mut again = bytes.to_vec();
        bitstream::seal(&mut again, header).expect("it was one");
        assert_eq!(again, bytes);
    }
});
