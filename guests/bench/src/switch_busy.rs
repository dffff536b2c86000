//! The other guest of `bench-switch-rt`: never idle, with a mix of everything that a hypervisor does for a guest,
//! so that the real-time guest's deadlines fall into each of these. Never ends.
#![no_std]
#![no_main]

use core::hint::black_box;

use tactus_guest::{devicetree, plic::Plic, println, sbi, start, time, trap, uart::Uart};

tactus_guest::entry!(main);

fn main() {
    println!("busy, boot arguments \"{}\"", devicetree::arguments());
    trap::on_timer(|| time::set_deadline(time::now() + time::hz() / 2000));
    trap::on_software(|| {});
    time::set_deadline(0);
    trap::enable_interrupts();
    let plic = Plic::of_hart(start::hart());
    let mut integer = 1u64;
    let mut floating = 1.0f64;
    loop {
        for _ in 0..2000 {
            integer = black_box(
                integer
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1),
            );
        }
        for _ in 0..50 {
            black_box(sbi::spec_version());
        }
        for _ in 0..500 {
            floating = black_box(floating * 1.000_1 + 1.0);
            if floating > 1e12 {
                floating = 1.0;
            }
        }
        // Emulated devices: the console's status, an empty claim.
        for _ in 0..20 {
            black_box(Uart::CONSOLE.receive());
            black_box(plic.claim());
        }
        // Calls with work in the hypervisor. The arguments are valid; a refusal would only make the load lighter.
        for _ in 0..5 {
            let me = sbi::HartMask::one(start::hart());
            let _ = black_box(sbi::send_ipi(me));
            let _ = black_box(sbi::remote_fence_i(me));
            let _ = black_box(sbi::remote_sfence_vma(me, 0, usize::MAX));
            let _ = black_box(sbi::hart_status(start::hart()));
            let _ = black_box(sbi::set_timer(time::now() + 100));
        }
    }
}
