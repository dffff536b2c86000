//! Compiles lwIP (`build/lwip`, which set-up gets, unmodified) with its port to FreeRTOS, and the application.

#[path = "../freertos/compiler.rs"]
mod compiler;
#[path = "../toolchain.rs"]
mod toolchain;

use std::env;
use std::path::{Path, PathBuf};

/// Where set-up has unpacked lwIP.
const LWIP: &str = "../../build/lwip";

/// lwIP's source files: IPv4, TCP, sockets and MQTT.
const SOURCES: [&str; 37] = [
    "contrib/ports/freertos/sys_arch.c",
    "src/api/api_lib.c",
    "src/api/api_msg.c",
    "src/api/err.c",
    "src/api/if_api.c",
    "src/api/netbuf.c",
    "src/api/netifapi.c",
    "src/api/sockets.c",
    "src/api/tcpip.c",
    "src/apps/mqtt/mqtt.c",
    "src/core/altcp.c",
    "src/core/altcp_alloc.c",
    "src/core/altcp_tcp.c",
    "src/core/def.c",
    "src/core/inet_chksum.c",
    "src/core/init.c",
    "src/core/ip.c",
    "src/core/ipv4/acd.c",
    "src/core/ipv4/etharp.c",
    "src/core/ipv4/icmp.c",
    "src/core/ipv4/ip4.c",
    "src/core/ipv4/ip4_addr.c",
    "src/core/ipv4/ip4_frag.c",
    "src/core/mem.c",
    "src/core/memp.c",
    "src/core/netif.c",
    "src/core/pbuf.c",
    "src/core/raw.c",
    "src/core/stats.c",
    "src/core/sys.c",
    "src/core/tcp.c",
    "src/core/tcp_in.c",
    "src/core/tcp_out.c",
    "src/core/timeouts.c",
    "src/core/udp.c",
    "src/core/dns.c",
    "src/netif/ethernet.c",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    if target != "riscv64gc-unknown-none-elf" {
        return;
    }
    toolchain::require("the FreeRTOS guest is written in C and needs");
    let lwip = PathBuf::from(LWIP);
    println!("cargo:rerun-if-changed={LWIP}/packages.lock");
    if !lwip.join("src/core/init.c").is_file() {
        println!("cargo:error=lwIP's source is not in build/lwip: run `make setup`, which gets it");
        std::process::exit(1);
    }
    let kernel = PathBuf::from(
        env::var("DEP_FREERTOS_KERNEL").expect("freertos-next's build script exports KERNEL"),
    );
    let base = |kernel: &Path| {
        let mut build = compiler::of(kernel, Path::new("../freertos"));
        build
            .include("include")
            .include(lwip.join("src/include"))
            .include(lwip.join("contrib/ports/freertos/include"))
            // What an older kernel calls a tick's length, which lwIP's port uses.
            .define("portTICK_RATE_MS", "portTICK_PERIOD_MS");
        build
    };

    let mut ours = base(&kernel);
    compiler::strict(&mut ours);
    for folder in ["app", "include"] {
        println!("cargo:rerun-if-changed={folder}");
    }
    ours.file("app/network.c").file("app/interface.c");
    ours.compile("freertos_network");

    let mut theirs = base(&kernel);
    theirs.files(SOURCES.map(|file| lwip.join(file)));
    theirs.warnings(false);
    theirs.flag("-Werror=implicit-function-declaration");
    theirs.compile("lwip");

    let script = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
        .join("../freertos/platform/link.ld");
    println!("cargo:rustc-link-arg-bins=-T{}", script.display());
    // See src/card.rs.
    println!("cargo:rustc-link-arg-bins=--wrap=platform_describe");
}
