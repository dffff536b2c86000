//! The devicetree as firmware, hypervisor and kernel read it.

use hermit_dtb::Dtb;
use std::path::Path;
use std::process::{Command, Stdio};
use tactus_board::devicetree::{Cache, Caches, Description, Extra, Pci, Range, blob};

/// A property's bytes; the blob is read as the hypervisor reads it.
fn property(blob: &[u8], path: &str, name: &str) -> Option<Vec<u8>> {
    // Safety: the pointer is to a whole blob, which outlives the reader.
    let dtb = unsafe { Dtb::from_raw(blob.as_ptr()) }.expect("a devicetree");
    dtb.get_property(path, name).map(<[u8]>::to_vec)
}

fn cells(blob: &[u8], path: &str, name: &str) -> Vec<u32> {
    let bytes = property(blob, path, name).unwrap_or_else(|| panic!("{path} has no {name}"));
    let cell = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0, |cell, &byte| cell << 8 | u32::from(byte))
    };
    bytes.chunks(4).map(cell).collect()
}

fn text(blob: &[u8], path: &str, name: &str) -> String {
    let bytes = property(blob, path, name).unwrap_or_else(|| panic!("{path} has no {name}"));
    String::from_utf8(bytes).expect("text")
}

#[test]
fn a_spare_serial_line_is_the_console() {
    let path = "/soc/serial@10009000";
    let plain = blob(&Description::default()).expect("a devicetree");
    assert_eq!(property(&plain, path, "reg"), None);
    let description = Description {
        spare_uart: true,
        ..Description::default()
    };
    let spare = blob(&description).expect("a devicetree");
    assert_eq!(text(&spare, "/chosen", "stdout-path"), format!("{path}\0"));
    assert_eq!(cells(&spare, path, "interrupts"), [12]);
    // The other one is there as it was.
    let other = "/soc/serial@10000000";
    assert_eq!(
        property(&spare, other, "reg"),
        property(&plain, other, "reg")
    );
}

#[test]
fn harts_and_their_wires() {
    let description = Description {
        harts: 2,
        ..Description::default()
    };
    let blob = blob(&description).expect("a devicetree");
    assert_eq!(cells(&blob, "/cpus", "timebase-frequency"), [10_000_000]);
    let mut controllers = Vec::new();
    for hart in 0..2 {
        let path = format!("/cpus/cpu@{hart}");
        assert_eq!(cells(&blob, &path, "reg"), [hart]);
        assert_eq!(text(&blob, &path, "device_type"), "cpu\0");
        assert_eq!(text(&blob, &path, "mmu-type"), "riscv,sv48\0");
        assert_eq!(text(&blob, &path, "riscv,isa-base"), "rv64i\0");
        assert_eq!(
            text(&blob, &path, "riscv,isa"),
            "rv64imafdch_zicntr_zicsr_zifencei_zihpm_zba_zbb_zbs_sstc\0"
        );
        assert!(
            text(&blob, &path, "riscv,isa-extensions").starts_with("i\0m\0a\0f\0d\0c\0h\0zicntr\0")
        );
        let controller = format!("{path}/interrupt-controller");
        assert_eq!(text(&blob, &controller, "compatible"), "riscv,cpu-intc\0");
        controllers.push(cells(&blob, &controller, "phandle")[0]);
    }
    let [a, b] = controllers[..] else {
        panic!("two controllers");
    };
    assert_ne!(a, b);
    let wires = cells(&blob, "/soc/clint@2000000", "interrupts-extended");
    assert_eq!(wires, [a, 3, a, 7, b, 3, b, 7]);
    let wires = cells(&blob, "/soc/plic@c000000", "interrupts-extended");
    assert_eq!(wires, [a, 11, a, 9, b, 11, b, 9]);
}

#[test]
fn caches_bootargs_and_further_devices() {
    let cache = Cache {
        size: 32768,
        line: 64,
        sets: 128,
    };
    let description = Description {
        caches: Caches {
            data: Some(cache),
            instruction: None,
            shared: Some(Cache {
                size: 1 << 19,
                line: 64,
                sets: 1024,
            }),
        },
        bootargs: Some("console=ttyS0".into()),
        initrd: Some(Range::new(0x8800_0000, 0x1234)),
        rng_seed: Some([7; 32]),
        extra: vec![Extra {
            name: "fabric".into(),
            compatible: vec!["tactus,fabric".into(), "generic-uio".into()],
            ranges: vec![
                Range::new(0x4000_0000, 0x1_0000),
                Range::new(0x5000_0000, 0x1000),
            ],
            interrupts: vec![40, 41],
            clock_hz: Some(100_000_000),
        }],
        ..Description::default()
    };
    let blob = blob(&description).expect("a devicetree");
    assert_eq!(cells(&blob, "/cpus/cpu@0", "d-cache-sets"), [128]);
    assert_eq!(property(&blob, "/cpus/cpu@0", "i-cache-sets"), None);
    assert_eq!(
        cells(&blob, "/cpus/cpu@0", "next-level-cache"),
        cells(&blob, "/l2-cache", "phandle")
    );
    assert_eq!(cells(&blob, "/l2-cache", "cache-size"), [1 << 19]);
    assert_eq!(text(&blob, "/chosen", "bootargs"), "console=ttyS0\0");
    assert_eq!(
        cells(&blob, "/chosen", "linux,initrd-start"),
        [0, 0x8800_0000]
    );
    assert_eq!(
        cells(&blob, "/chosen", "linux,initrd-end"),
        [0, 0x8800_1234]
    );
    assert_eq!(property(&blob, "/chosen", "rng-seed"), Some(vec![7; 32]));
    let fabric = "/soc/fabric@40000000";
    assert_eq!(
        cells(&blob, fabric, "reg"),
        [0, 0x4000_0000, 0, 0x1_0000, 0, 0x5000_0000, 0, 0x1000]
    );
    assert_eq!(cells(&blob, fabric, "interrupts"), [40, 41]);
    assert_eq!(cells(&blob, fabric, "clock-frequency"), [100_000_000]);
    assert_eq!(
        cells(&blob, fabric, "interrupt-parent"),
        cells(&blob, "/soc/plic@c000000", "phandle")
    );
}

/// Each device that both have is described the same way. `make setup` installs QEMU.
#[test]
fn devices_are_those_of_virt() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("virt.dtb");
    let status = Command::new("qemu-system-riscv64")
        .args(["-M", &format!("virt,dumpdtb={}", file.display())])
        .args(["-cpu", "rv64,h=true", "-nographic"])
        .stdin(Stdio::null())
        .status()
        .expect("qemu-system-riscv64; `make setup` installs it");
    assert!(status.success(), "QEMU does not dump its devicetree");
    let theirs = std::fs::read(&file).expect("QEMU's devicetree");
    let description = Description {
        pci: Some(Pci {
            ecam: Range::new(0x3000_0000, 1 << 20),
            window: Range::new(0x5000_0000, 1 << 28),
            interrupts: [32, 33, 34, 35],
            iommu: Some((Range::new(0x301_0000, 4096), vec![36, 37, 38, 39])),
        }),
        ..Description::default()
    };
    let ours = blob(&description).expect("a devicetree");
    let mut devices: Vec<String> = [
        "test@100000",
        "rtc@101000",
        "serial@10000000",
        "clint@2000000",
        "plic@c000000",
    ]
    .map(|name| format!("/soc/{name}"))
    .into();
    devices.extend((1..=8).map(|slot| format!("/soc/virtio_mmio@1000{slot}000")));
    devices.push("/memory@80000000".into());
    for path in &devices {
        for name in [
            "compatible",
            "reg",
            "interrupts",
            "riscv,ndev",
            "#interrupt-cells",
            "#address-cells",
        ] {
            assert_eq!(
                property(&ours, path, name),
                property(&theirs, path, name),
                "{path} {name}"
            );
        }
    }
    // The map names the interrupt controller, by numbers that differ.
    let map = |tree: &[u8]| {
        let cells = property(tree, "/soc/pci@30000000", "interrupt-map").expect("a map");
        let of_plic = property(tree, "/soc/plic@c000000", "phandle").expect("its number");
        let mut entries: Vec<Vec<u8>> = cells.chunks(24).map(<[u8]>::to_vec).collect();
        for entry in &mut entries {
            assert_eq!(entry[16..20], of_plic);
            entry[16..20].fill(0);
        }
        entries
    };
    assert_eq!(map(&ours), map(&theirs));
    for (path, name) in [
        ("/soc/pci@30000000", "compatible"),
        ("/soc/pci@30000000", "device_type"),
        ("/soc/pci@30000000", "#address-cells"),
        ("/soc/pci@30000000", "#size-cells"),
        ("/soc/pci@30000000", "#interrupt-cells"),
        ("/soc/pci@30000000", "linux,pci-domain"),
        ("/soc/pci@30000000", "dma-coherent"),
        ("/soc/pci@30000000", "interrupt-map-mask"),
        ("/soc/serial@10000000", "clock-frequency"),
        ("/cpus", "timebase-frequency"),
        ("/poweroff", "value"),
        ("/poweroff", "compatible"),
        ("/reboot", "value"),
        ("/chosen", "stdout-path"),
        ("/aliases", "serial0"),
        ("/soc", "compatible"),
    ] {
        assert_eq!(
            property(&ours, path, name),
            property(&theirs, path, name),
            "{path} {name}"
        );
    }
}
