//! The command line of Tactus.
fn main() {}
