//! Puts the linker script where the linker looks for it; guests, the self-test among them, name it with
//! `-Ttactus-guest.x`.

use std::{env, fs, io, path::PathBuf};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=tactus-guest.x");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?);
    fs::copy("tactus-guest.x", out.join("tactus-guest.x"))?;
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-arg-bins=-Ttactus-guest.x");
    Ok(())
}
