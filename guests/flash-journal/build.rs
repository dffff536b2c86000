//! Links the guest with the runtime's script.

fn main() {
    println!("cargo::rustc-link-arg-bins=-Ttactus-guest.x");
}
