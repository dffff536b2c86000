//! The image against what the hypervisor's own reader makes of it.

use proptest::prelude::*;
use std::sync::LazyLock;
use tactus_abi::bitstream::REGION_BYTES;
use tactus_abi::blob::management::MANAGEMENT;
use tactus_abi::blob::onchip;
use tactus_abi::blob::warm::WarmRange;
use tactus_abi::blob::{
    Blob, ChannelEnd, Class, Error, Header, Migration, NONE, OnFault, RealTimePolicy, Vcpu, Vm,
    checksum, name_text, part, region,
};
use tactus_abi::map::{DEVICETREE_SIZE, MEGAPAGE_SIZE, PAGE_SIZE, RAM_BASE};
use tactus_planning::placement::Extent;
use zerocopy::IntoBytes;

use super::{Image, blob};
use crate::check::tests::{
    allocated_image, calls_image, guaranteed_image, managed_image, migrating_image, onchip_image,
    pci_hosts_image, reserved_image, rich_image, shared_image, spare_uart_image, unseparated_image,
    warm_image,
};
use crate::plan::{ConsoleLine, Plan};
use crate::testing::{assert_isolated, devicetree_source, each_file, try_blob};

static RICH: LazyLock<(Image, Plan)> = LazyLock::new(rich_image);

/// Where the blob of that image is.
fn blob_at(plan: &Plan) -> usize {
    (plan.hypervisor.blob - plan.image.start) as usize
}

/// Runs a check on the blob as it stands in the image.
fn with_blob(check: impl FnOnce(&Image, &Plan, &Blob<'_>)) {
    with_blob_of(rich_image(), check);
}

fn with_blob_of((image, plan): (Image, Plan), check: impl FnOnce(&Image, &Plan, &Blob<'_>)) {
    let bytes = blob::aligned(&image.bytes[blob_at(&plan)..]);
    let parsed = Blob::parse(&bytes).expect("a blob");
    check(&image, &plan, &parsed);
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    assert!(rich_image().0.bytes == rich_image().0.bytes);
}

#[test]
fn the_image_begins_with_the_hypervisor() {
    let (image, plan) = rich_image();
    assert_eq!(
        image.bytes[..plan.hypervisor.bytes.len()],
        plan.hypervisor.bytes
    );
    assert_eq!(image.bytes.len() as u64, plan.image.size());
    assert!(image.bytes.len().is_multiple_of(PAGE_SIZE as usize));
    assert_eq!(image.vms, ["linux", "rtos"]);
    assert_eq!((image.harts, image.memory), (2, 4 << 30));
}

/// The hypervisor has the spare UART where a VM has the other one.
#[test]
fn the_consoles_move_to_a_spare_uart() {
    with_blob_of(spare_uart_image(), |image, plan, blob| {
        assert_eq!(image.line, ConsoleLine::Spare(1));
        let header = blob.header;
        assert_eq!((header.uart_base, header.uart_source), (0x1000_9000, 12));
        assert_eq!(plan.vms[1].devices[0].host, 0x1000_0000);
    });
    assert_eq!(rich_image().0.line, ConsoleLine::Shared(1));
}

/// A part in on-chip memory is at its end, from the page where the image begins; the other addresses are as without.
#[test]
fn a_part_of_a_vms_memory_is_on_the_chip() {
    with_blob_of(onchip_image(), |image, plan, blob| {
        assert_isolated(plan);
        assert_ne!(blob.header.parts & onchip::ONCHIP, 0);
        let [first, second, third] = blob.vms else {
            panic!("three VMs");
        };
        for (vm, guest, host, size) in [
            (first, 0x8020_0000, 0x803_0000, 0x1_0000),
            (third, 0x8020_0000, 0x802_f000, 0x1000),
        ] {
            let regions = blob.regions_of(vm);
            let part = regions.last().expect("it has some");
            assert_eq!(part.flags, onchip::MEMORY);
            assert_eq!((part.guest, part.host, part.size), (guest, host, size));
            // The whole is there, too.
            let whole = regions[0];
            assert_eq!((whole.guest, whole.size), (RAM_BASE, 4 << 20));
            let memory = blob.memory_of(vm);
            let offset = guest - RAM_BASE;
            assert_eq!(memory.host_at(offset - 1), whole.host + offset - 1);
            assert_eq!(memory.host_at(offset), host);
            assert_eq!(memory.host_at(offset + size - 1), host + size - 1);
            assert_eq!(memory.host_at(offset + size), whole.host + offset + size);
            assert_ne!(memory.spread, 0);
        }
        let regions = blob.regions_of(second);
        assert!(regions.iter().all(|region| region.flags != onchip::MEMORY));
        // What campaigns, `tactus warm` and others of the tool look at.
        let memories = &image.memories;
        assert_eq!(memories[0].offset_of(0x803_0008), Some(0x20_0008));
        assert_eq!(memories[1].offset_of(0x803_0008), None);
        assert_eq!(memories[2].offset_of(0x802_fff8), Some(0x20_0ff8));
        let unused = plan.vms[0].host + 0x20_0000;
        assert_eq!(memories[0].offset_of(unused), None);
        let before = plan.vms[0].host + 0x1f_fff8;
        assert_eq!(memories[0].offset_of(before), Some(0x1f_fff8));
    });
}

/// A blob whose parts are out of range is refused, by a hypervisor that knows of them and by the maker.
#[test]
fn parts_on_the_chip_out_of_range_are_refused() {
    let (image, plan) = onchip_image();
    let bytes = &image.bytes[blob_at(&plan)..];
    let size = {
        let bytes = blob::aligned(bytes);
        let parsed = Blob::parse(&bytes).expect("a blob");
        assert!(parsed.check_onchip(0x802_f000, 0x804_0000).is_ok());
        for (begin, end) in [(0x803_0000, 0x804_0000), (0x802_f000, 0x803_f000)] {
            assert!(parsed.check_onchip(begin, end).is_err());
        }
        parsed.header.length as usize
    };
    let whole = bytes[..size].to_vec();
    let at = whole
        .windows(8)
        .position(|window| window == 0x803_0000u64.to_le_bytes())
        .expect("the part's physical address");
    // Guest-physical address, physical address, bytes.
    for (field, value) in [
        (at - 8, 0x7fff_f000u64),
        (at - 8, 0x803f_1000),
        (at, 0x803_0800),
        (at + 8, 0x20_0000),
        (at + 8, u64::MAX - 0xfff),
    ] {
        let mut bytes = whole.clone();
        bytes[field..field + 8].copy_from_slice(&value.to_le_bytes());
        let at = std::mem::offset_of!(Header, crc32);
        bytes[at..at + 4].fill(0);
        let crc32 = checksum(&bytes);
        bytes[at..at + 4].copy_from_slice(&crc32.to_le_bytes());
        let error = Blob::parse(&blob::aligned(&bytes)).expect_err("a refusal");
        let reason = "on-chip memory of a VM out of range";
        assert_eq!(error, Error::Table(reason), "{value:#x}");
    }
}

#[test]
fn the_blob_says_what_the_description_says() {
    with_blob(|_, plan, blob| {
        assert_eq!(blob.harts.len(), 2);
        assert_eq!((blob.harts[1].id, blob.harts[1].plic_context), (1, 3));
        assert_eq!(blob.header.slice_ticks, 50_000);
        assert_eq!(blob.header.ram_base, 0x8000_0000);
        assert_eq!(blob.header.ram_size, 4 << 30);
        // A VM has the UART.
        assert_eq!((blob.header.uart_base, blob.header.uart_source), (0, 0));

        let [linux, rtos] = blob.vms else {
            panic!("two VMs");
        };
        assert_eq!(name_text(&linux.name), "linux");
        assert_eq!((linux.entry, linux.console), (0x8020_0000, 1));
        assert_eq!(linux.devicetree, RAM_BASE + (1 << 30) - DEVICETREE_SIZE);
        assert_eq!(OnFault::from_raw(rtos.on_fault), Some(OnFault::Signal));
        assert_eq!((rtos.signal_vm, rtos.console), (0, 0));

        let vcpus = blob.vcpus_of(linux);
        assert_eq!(vcpus[0].harts, 0b11);
        assert_eq!((vcpus[1].harts, vcpus[1].priority), (0b10, 3));
        let rt = blob.vcpus_of(rtos)[0];
        assert_eq!(Class::from_raw(rt.class), Some(Class::RealTime));
        assert_eq!((rt.harts, rt.priority), (0b01, 200));

        let regions = blob.regions_of(rtos);
        let kinds: Vec<u16> = regions.iter().map(|r| r.flags).collect();
        assert_eq!(
            kinds,
            [
                region::MEMORY,
                region::DEVICE,
                region::CHANNEL,
                region::CHANNEL
            ]
        );
        assert_eq!(regions[0].host, 0x9000_0000);
        // Channel 1 follows channel 0, whatever the other end calls them.
        assert_eq!(
            (regions[2].guest, regions[3].guest),
            (0x3000_1000, 0x3000_2000)
        );
        assert_eq!(regions[3].size, 0x1_0000);
        assert_eq!(regions[3].host, plan.channels[1].host);
        assert_eq!(blob.regions_of(linux)[2].host, regions[3].host);
        assert_eq!((blob.interrupts[0].source, blob.interrupts[0].vm), (10, 1));
        let end = blob.channel_ends_of(rtos)[1];
        assert_eq!((end.peer_vm, end.peer_channel), (0, 1));
    });
}

#[test]
fn the_blob_says_whether_priorities_are_separated() {
    with_blob_of(rich_image(), |_, _, blob| {
        assert_eq!(blob.header.separation, 1);
    });
    with_blob_of(unseparated_image(), |_, _, blob| {
        assert_eq!(blob.header.separation, 0);
    });
}

#[test]
fn the_blob_says_who_migrates() {
    with_blob_of(rich_image(), |_, _, blob| {
        assert_eq!((blob.header.migration, blob.header.user_only), (0, 0));
    });
    with_blob_of(migrating_image(), |_, _, blob| {
        assert_eq!(blob.header.migration, Migration::Automatic as u32);
        assert_eq!(blob.header.user_only, 0b01);
        let kernel_harts = |vm: &Vm| -> Vec<u64> {
            let vcpus = blob.vcpus_of(vm).iter();
            vcpus.map(|vcpu| blob.kernel_harts(vcpu)).collect()
        };
        // Linux's kernel keeps off the RTOS's hart, and the RTOS stays there.
        let [linux, rtos] = blob.vms else {
            panic!("two VMs");
        };
        assert!(kernel_harts(linux).iter().all(|&harts| harts == 0b10));
        assert_eq!(kernel_harts(rtos), [0b01]);
    });
}

/// In a hypervisor with the calls, too, no reservation changes at run time unless the system says so.
#[test]
fn who_may_not_reserve_has_no_share() {
    with_blob_of(shared_image(), |_, plan, blob| {
        assert_eq!(plan.parts & part::RESERVATION_CALLS, 0);
        assert_ne!(plan.parts, 0);
        let reserved = plan.vms.iter().filter(|vm| vm.rt_share.0 > 0).count();
        assert!(reserved > 0);
        assert!(blob.vms.iter().all(|vm| vm.rt_share == 0));
    });
}

#[test]
fn the_blob_says_what_is_guaranteed() {
    with_blob_of(guaranteed_image(), |image, plan, blob| {
        assert_eq!(image.platform, "mpsoc");
        assert_eq!(blob.header.reserve, 125);
        assert_eq!(blob.header.overheads, plan.overheads);
        let policies: Vec<_> = blob
            .harts
            .iter()
            .map(|hart| RealTimePolicy::from_raw(hart.policy).expect("a policy"))
            .collect();
        let (deadline, priority) = (
            RealTimePolicy::EarliestDeadline,
            RealTimePolicy::FixedPriority,
        );
        assert_eq!(policies, [deadline, deadline, priority]);

        let [control, motor, linux] = blob.vms else {
            panic!("three VMs");
        };
        let times = |vcpu: &Vcpu| (vcpu.period, vcpu.budget, vcpu.deadline);
        let [first, second] = blob.vcpus_of(control) else {
            panic!("two vCPUs");
        };
        assert_eq!(
            (first.harts, times(first)),
            (0b001, (10_000, 6_000, 10_000))
        );
        // It did not fit hart 0.
        assert_eq!(
            (second.harts, times(second)),
            (0b010, (10_000, 2_000, 5_000))
        );
        let by_priority = blob.vcpus_of(motor)[0];
        assert_eq!((by_priority.harts, by_priority.priority), (0b100, 7));
        assert_eq!(times(&by_priority), (10_000, 1_000, 10_000));

        assert_eq!((linux.vcpus, linux.rt_vcpus, linux.rt_share), (1, 2, 100));
        assert_eq!((control.rt_vcpus, control.rt_share), (0, 267));
        for (number, place) in (1..).zip(&blob.vcpus_of(linux)[1..]) {
            assert_eq!((place.index, place.harts), (number, 0b011));
            assert_eq!((place.priority, times(place)), (255, (0, 0, 0)));
            assert_eq!(Class::from_raw(place.class), Some(Class::RealTime));
        }
        for vm in [control, linux] {
            let end = blob.channel_ends_of(vm)[0];
            assert_eq!((end.messages, end.message_size), (8, 100));
        }
    });
}

#[test]
fn segments_are_in_the_image_and_in_the_vm() {
    with_blob(|image, plan, blob| {
        for (vm, planned) in blob.vms.iter().zip(&plan.vms) {
            let memory = blob.regions_of(vm)[0];
            let segments = blob.segments_of(vm);
            assert_eq!(segments.len(), planned.segments.len());
            for (segment, planned) in segments.iter().zip(&planned.segments) {
                assert!(segment.source.is_multiple_of(PAGE_SIZE));
                let at = (segment.source - plan.image.start) as usize;
                assert_eq!(image.bytes[at..at + segment.size as usize], planned.bytes);
                let extent = Extent::new(segment.guest, segment.size);
                assert!(Extent::new(memory.guest, memory.size).contains(extent));
            }
        }
    });
}

#[test]
fn nothing_overlaps_in_physical_memory() {
    let (_, plan) = rich_image();
    assert_isolated(&plan);
    assert!(
        plan.vms
            .iter()
            .all(|vm| vm.host.is_multiple_of(MEGAPAGE_SIZE))
    );
}

/// Parts of blobs: the numbers in them, more often small or extreme than not.
fn word() -> impl Strategy<Value = u32> {
    prop_oneof![0..40u32, Just(u32::MAX), Just(1 << 31), any::<u32>()]
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_of_blobs_panic(bytes: Vec<u8>) {
        try_blob(&bytes);
    }

    #[test]
    fn no_damaged_blob_makes_its_reader_panic(
        damage in prop::collection::vec((0..300usize, word()), 1..6),
        cut in prop::option::of(0..1200usize),
    ) {
        let (image, plan) = &*RICH;
        let mut bytes = image.bytes[blob_at(plan)..][..0x1000].to_vec();
        for (at, word) in damage {
            bytes[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes.truncate(cut.unwrap_or(bytes.len()));
        try_blob(&bytes);
    }
}

/// The devicetree is the last segment of each VM.
fn devicetree_of(plan: &Plan, vm: usize) -> String {
    let segment = plan.vms[vm].segments.last().expect("a devicetree");
    assert_eq!(segment.guest, plan.vms[vm].devicetree());
    devicetree_source(&segment.bytes)
}

#[test]
fn devicetree_of_a_guest_with_everything_virtual() {
    insta::assert_snapshot!("devicetree-linux", devicetree_of(&RICH.1, 0));
}

#[test]
fn devicetree_of_a_guest_with_a_device() {
    insta::assert_snapshot!("devicetree-rtos", devicetree_of(&RICH.1, 1));
}

#[test]
fn devicetree_of_a_guest_that_makes_real_time_vcpus() {
    let (_, plan) = guaranteed_image();
    let source = devicetree_of(&plan, 2);
    // The rest is as in the others.
    for (node, lines) in [
        ("reserved-memory {", 11),
        ("real-time {", 8),
        ("channel@", 11),
    ] {
        let at = source
            .lines()
            .position(|line| line.contains(node))
            .expect(node);
        let text: Vec<&str> = source.lines().skip(at).take(lines).collect();
        insta::assert_snapshot!(
            format!("devicetree-{}", node.trim_end_matches([' ', '{', '@'])),
            text.join("\n")
        );
    }
}

/// Both VMs have the channel's memory in `/reserved-memory`, and the channel's node refers to it.
#[test]
fn devicetree_of_a_guest_with_reserved_memory() {
    let (_, plan) = reserved_image();
    for (vm, lines) in [(0, 20), (1, 12)] {
        let source = devicetree_of(&plan, vm);
        let (_, reserved) = source.split_once("reserved-memory {").expect("the node");
        let text: Vec<&str> = reserved.lines().take(lines).collect();
        insta::assert_snapshot!(format!("devicetree-reserved-{vm}"), text.join("\n"));
        let phandle = property(&source, "channel@30002000", "phandle");
        let (_, soc) = source.split_once("soc {").expect("the node");
        assert_eq!(phandle.len(), 4);
        assert_eq!(property(soc, "channel@30002000", "memory-region"), phandle);
        assert!(property(soc, "channel@30001000", "memory-region").is_empty());
        // It is no other node's.
        let cells: Vec<_> = phandle.iter().map(|byte| format!("{byte:02x}")).collect();
        let line = format!("phandle = <0x{}>;", cells.concat().trim_start_matches('0'));
        assert_eq!(source.matches(&line).count(), 1, "{source}");
    }
}

/// A VM finds a PCI host that another VM emulates as any other. That VM is told where the host is, and what memory
/// follows the channel's.
#[test]
fn devicetree_of_guests_with_emulated_pci_hosts() {
    let (_, plan) = pci_hosts_image();
    for (vm, begin, lines) in [
        (0, "pci@29000000", 14),
        (1, "pci@50000000", 14),
        (2, "channel@30001000", 27),
    ] {
        let source = devicetree_of(&plan, vm);
        let at = source.lines().position(|line| line.contains(begin));
        let text = source.lines().skip(at.expect(begin)).take(lines);
        let text: Vec<&str> = text.collect();
        insta::assert_snapshot!(format!("devicetree-pci-host-{vm}"), text.join("\n"));
    }
}

/// What the fuzzer found worth keeping.
#[test]
fn saved_blobs_are_read() {
    each_file("fuzz/corpus/blob", try_blob);
}

/// What the device manager itself reads.
#[path = "../../../guests/device-manager/src/configuration.rs"]
mod configuration;

/// The cells of a property of the first node of that name, as bytes; none: it is not there.
fn property(source: &str, node: &str, name: &str) -> Vec<u8> {
    let (_, node) = source.split_once(&format!("{node} {{")).expect("the node");
    let (node, _) = node.split_once('}').expect("its end");
    let line = node.lines().find_map(|line| {
        let line = line.trim().strip_prefix(name)?.strip_prefix(" = <")?;
        line.strip_suffix(">;")
    });
    let cell = |text: &str| {
        let digits = text.trim_start_matches("0x");
        u32::from_str_radix(digits, 16).expect("a cell")
    };
    let cells = line.unwrap_or("").split_whitespace().map(cell);
    cells.flat_map(u32::to_be_bytes).collect()
}

/// Everything that the device manager is told is what the plan has.
#[test]
fn the_device_manager_reads_what_the_devicetree_says() {
    use configuration::Configuration;
    use tactus_accelerators::{Device, Turn};

    let (image, plan) = shared_image();
    let (rtos, gpos, manager) = (0, 1, 2);
    let source = devicetree_of(&plan, manager);
    let read = Configuration::of(|name| property(&source, "accelerators", name).leak())
        .expect("a configuration");
    assert_eq!((read.fabric, read.regions), (0x4000_0000, 3));
    // qam16, qam64, fft512, fft1024 of one VM, and then of the other.
    for (interface, device) in read.devices.iter().enumerate() {
        let vm = if interface < 4 { rtos } else { gpos };
        let expected = Device {
            task: 2 + interface as u8 % 4,
            priority: u8::from(vm == rtos),
            hold: 5_000,
        };
        assert_eq!(*device, Some(expected), "{interface}");
        let memory = (plan.vms[vm].host, plan.vms[vm].memory.0);
        let (page, pages) = read.windows[interface];
        assert_eq!((u64::from(page) << 12, u64::from(pages) << 12), memory);
        // The manager has one channel, to the second of the two.
        let channel = (vm == gpos).then_some(0);
        assert_eq!(read.channels[interface], channel, "{interface}");
    }
    assert_eq!(read.policy.fits, [0, 0, 0b011, 0b011, 0b110, 0b100, 0, 0]);
    // In ticks of 100 ns.
    assert_eq!(read.policy.stop, [0, 0, 100, 100, 170, 300, 0, 0]);
    assert_eq!((read.policy.drain, read.policy.give_up), (114, None));
    let turn = Turn {
        wait: 1_000_000,
        length: 2_000,
    };
    assert_eq!(read.policy.turn, Some(turn));
    // With turns the region allocator is not used.
    assert_eq!(read.allocator, 0);
    let segment = plan.vms[manager].segments.iter().rev().nth(1);
    let segment = segment.expect("the bitstreams");
    let mut number = 0;
    for (task, regions) in read.bitstreams.iter().enumerate() {
        for (region, bitstream) in regions.iter().enumerate() {
            let fits = read.policy.fits[task] >> region & 1 != 0;
            assert_eq!(bitstream.is_some(), fits, "{task} in {region}");
            let Some((address, length)) = *bitstream else {
                continue;
            };
            let guest = address - plan.vms[manager].host + RAM_BASE;
            assert!(address.is_multiple_of(tactus_abi::bitstream::ALIGN));
            let from = (guest - segment.guest) as usize;
            let bytes = &segment.bytes[from..from + length as usize];
            let header = tactus_abi::bitstream::check(bytes).expect("a bitstream");
            assert_eq!((header.task, header.region), (task as u8, region as u8));
            assert_eq!(length as usize, REGION_BYTES[region]);
            number += 1;
        }
    }
    assert_eq!(number, 7);
    assert!(image.bytes.len() as u64 == plan.image.size());
}

/// Who has which page, by whose number, and with which interrupts.
#[test]
fn the_blob_says_who_shares_accelerators() {
    with_blob_of(shared_image(), |_, plan, blob| {
        assert_eq!(blob.header.device_manager, 2);
        let [rtos, gpos, manager] = blob.vms else {
            panic!("three VMs");
        };
        for (vm, first) in [(rtos, 0), (gpos, 4)] {
            let shared = blob.regions_of(vm).iter();
            let shared: Vec<_> = shared
                .filter(|region| region.flags == region::ACCELERATOR)
                .collect();
            assert_eq!(shared.len(), 4);
            for (number, page) in (0..4).zip(shared) {
                assert_eq!(page.interface, first + number);
                assert_eq!(page.guest, 0x2800_2000 + 0x1000 * u64::from(number));
                let host = 0x4001_0000 + 0x1000 * u64::from(first + number);
                assert_eq!((page.host, page.size), (host, PAGE_SIZE));
            }
        }
        // Monitor, port, three regions, eight interfaces: each where it is.
        let pages: Vec<u64> = blob
            .regions_of(manager)
            .iter()
            .filter(|region| region.flags == region::DEVICE)
            .map(|page| {
                assert_eq!((page.guest, page.size), (page.host, PAGE_SIZE));
                page.host - 0x4000_0000
            })
            .collect();
        let interfaces = (0..8).map(|interface| 0x8000 + 0x1000 * interface);
        let all = [0, 0x1000, 0x2000, 0x3000, 0x4000].into_iter();
        assert_eq!(pages, all.chain(interfaces).collect::<Vec<_>>());
        let sources = |vm: u32| {
            let own = blob.interrupts.iter().filter(move |one| one.vm == vm);
            own.map(|one| one.source).collect::<Vec<_>>()
        };
        assert_eq!(sources(0), [48, 49, 50, 51]);
        assert_eq!(sources(1), [52, 53, 54, 55]);
        assert_eq!(sources(2), [40, 45, 41, 42, 43, 44]);
        assert!(plan.accelerators.is_some());
    });
    with_blob_of(rich_image(), |_, _, blob| {
        assert_eq!(blob.header.device_manager, NONE);
    });
}

/// The hypervisor has the allocator's page and interrupt, and the manager its table. With turns neither is used.
#[test]
fn the_blob_says_where_the_region_allocator_is() {
    with_blob_of(shared_image(), |_, _, blob| {
        let header = &blob.header;
        assert_eq!((header.allocator, header.allocator_source), (0, 0));
    });
    with_blob_of(allocated_image(), |_, plan, blob| {
        let header = &blob.header;
        assert_eq!(
            (header.allocator, header.allocator_source),
            (0x4000_5000, 46)
        );
        let regions = |vm: usize| blob.regions_of(&blob.vms[vm]).iter();
        let pages = |vm: usize, host: u64| regions(vm).filter(move |page| page.host == host);
        for vm in 0..3 {
            assert_eq!(pages(vm, 0x4000_5000).count(), 0, "{vm}");
            assert_eq!(pages(vm, 0x4000_6000).count(), usize::from(vm == 2), "{vm}");
            let mut shared = regions(vm).filter(|page| page.flags == region::ACCELERATOR);
            assert!(
                shared.all(|page| page.priority == u8::from(vm == 0)),
                "{vm}"
            );
        }
        assert!(blob.interrupts.iter().all(|one| one.source != 46));
        let stop = plan.accelerators.as_ref().and_then(|all| all.allocator);
        // FFT-1024's, which is the longest: 30 us.
        assert_eq!(stop.map(|allocator| allocator.stop_cycles), Some(3000));
    });
}

/// What a VM is told of its virtual devices.
#[test]
fn devicetree_of_a_guest_with_accelerators() {
    let (_, plan) = shared_image();
    for (vm, channel) in [(0, None), (1, Some(1))] {
        let source = devicetree_of(&plan, vm);
        let cells = |name| property(&source, "fft512@28004000", name);
        let cell = |value: u32| value.to_be_bytes().to_vec();
        assert_eq!(cells("tactus,task"), cell(4));
        assert_eq!(cells("tactus,interface"), cell(2 + 4 * vm as u32));
        assert_eq!(cells("interrupts"), cell(50 + 4 * vm as u32));
        assert_eq!(cells("tactus,channel"), channel.map_or(Vec::new(), cell));
        assert!(!source.contains("accelerators {"));
    }
}

#[test]
fn warm_lines_come_through_the_blob() {
    with_blob_of(warm_image(), |_, _, blob| {
        assert_eq!(blob.header.cache_line, 32);
        let list = |vcpu| {
            [(0x803f_ffe0, 1, 0), (0x8020_0000, 127, 1)].map(|(guest, lines, code)| WarmRange {
                guest,
                vcpu,
                lines,
                code,
            })
        };
        assert_eq!(blob.warm_of(0), []);
        assert_eq!(blob.warm_of(1), list(1));
        assert_eq!(blob.warm_of(2), list(2));
        assert_eq!(blob.warm_of(3), []);
        assert_eq!(blob.warm_of(NONE), []);
    });
    with_blob(|_, _, blob| {
        assert_eq!((blob.header.cache_line, blob.warm_ranges().len()), (0, 0));
    });
}

/// What the blob's maker would refuse, and what a hypervisor that uses the lists refuses.
#[test]
fn warm_lines_that_are_none_are_refused() {
    let (image, plan) = warm_image();
    let bytes = &image.bytes[blob_at(&plan)..];
    let whole = blob::aligned(bytes);
    let length = Blob::parse(&whole).expect("a blob").header.length as usize;
    // The table is the last one.
    let ranges = length - 4 * size_of::<WarmRange>();
    let parse = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = bytes[..length].to_vec();
        change(&mut bytes);
        let at = std::mem::offset_of!(Header, crc32);
        let crc32 = checksum(&bytes);
        bytes[at..at + 4].copy_from_slice(&crc32.to_le_bytes());
        let aligned = blob::aligned(&bytes);
        Blob::parse(&aligned).map(|blob| blob.warm_ranges().len())
    };
    assert_eq!(parse(&|_| ()), Ok(4));
    let with = |number: usize, range: WarmRange| {
        parse(&|bytes| {
            let at = ranges + number * size_of::<WarmRange>();
            bytes[at..at + size_of::<WarmRange>()].copy_from_slice(range.as_bytes());
        })
    };
    let first = WarmRange {
        guest: 0x803f_ffe0,
        vcpu: 1,
        lines: 1,
        code: 0,
    };
    assert_eq!(with(0, first), Ok(4));
    let refused = Err(Error::Table("a vCPU's warm lines out of range"));
    for (number, range) in [
        (0, WarmRange { lines: 0, ..first }),
        (0, WarmRange { code: 2, ..first }),
        (0, WarmRange { lines: 2, ..first }),
        (
            0,
            WarmRange {
                lines: u16::MAX,
                ..first
            },
        ),
        // 129 lines of a vCPU.
        (
            0,
            WarmRange {
                guest: 0x8000_0000,
                lines: 2,
                ..first
            },
        ),
        (
            0,
            WarmRange {
                guest: 0x8000_0008,
                ..first
            },
        ),
        // Two lines, of which the second one is in the next page.
        (
            1,
            WarmRange {
                guest: 0x8000_0fe0,
                lines: 2,
                ..first
            },
        ),
        (
            0,
            WarmRange {
                guest: 0x8040_0000,
                ..first
            },
        ),
        (
            0,
            WarmRange {
                guest: 0x7fff_ffe0,
                ..first
            },
        ),
        (
            0,
            WarmRange {
                guest: u64::MAX - 31,
                ..first
            },
        ),
        (0, WarmRange { vcpu: 2, ..first }),
        (3, WarmRange { vcpu: 3, ..first }),
        (
            3,
            WarmRange {
                vcpu: NONE,
                ..first
            },
        ),
    ] {
        assert_eq!(with(number, range), refused, "{number} {range:?}");
    }
    let line = std::mem::offset_of!(Header, cache_line);
    for bytes in [0_u16, 24, 1 << 15] {
        let refused_line =
            parse(&|blob| blob[line..line + 2].copy_from_slice(&bytes.to_le_bytes()));
        assert_eq!(refused_line, refused, "{bytes}");
    }
}

/// Calls come through the blob at their caller's end, in ticks; a hypervisor refuses those that are beyond the limits.
#[test]
fn calls_come_through_the_blob() {
    with_blob_of(calls_image(), |_, _, blob| {
        let ends = |vm: usize| {
            let ends = blob.channel_ends_of(&blob.vms[vm]).iter();
            ends.map(|end| end.call_ticks).collect::<Vec<_>>()
        };
        // Ticks of 100 ns.
        assert_eq!(
            [ends(0), ends(1), ends(2)],
            [vec![100], vec![0, 20], vec![0]]
        );
        assert_eq!(blob.header.parts & part::CALLS, part::CALLS);
        assert_eq!(blob.check_calls(), Ok(()));
        let with = |change: &dyn Fn(&mut [ChannelEnd])| {
            let mut ends = blob.channel_ends.to_vec();
            change(&mut ends);
            let mut changed: Blob<'_> = *blob;
            changed.channel_ends = &ends;
            changed.check_calls()
        };
        let too_long = Err(Error::Table("a call's time out of range"));
        assert_eq!(with(&|ends| ends[0].call_ticks = 65_536), too_long);
        assert_eq!(with(&|ends| ends[0].call_ticks = 65_535), Ok(()));
        // The last VM calls the second.
        let too_deep = Err(Error::Table("calls within calls too deep"));
        assert_eq!(with(&|ends| ends[3].call_ticks = 1), too_deep);
    });
}

/// The VMs that each VM manages come through the blob; a hypervisor refuses those that do not exist, and the VM itself.
#[test]
fn managed_vms_come_through_the_blob() {
    let (image, plan) = managed_image();
    let source = devicetree_of(&plan, 0);
    assert!(source.contains("managed {"), "{source}");
    assert!(source.contains("tactus,vms = <0x1 0x2>"), "{source}");
    let names = "tactus,vm-names = \"second\", \"last\"";
    assert!(source.contains(names), "{source}");
    assert!(!devicetree_of(&plan, 2).contains("managed {"));
    let bytes = &image.bytes[blob_at(&plan)..];
    let whole = blob::aligned(bytes);
    let parsed = Blob::parse(&whole).expect("a blob");
    assert_eq!(parsed.header.parts, MANAGEMENT);
    assert_eq!(parsed.managed(), [0b110, 0b100, 0]);
    let length = parsed.header.length as usize;
    // The table is the last one.
    let table = length - 3 * size_of::<u64>();
    let with = |number: usize, set: u64, length: usize| {
        let mut bytes = bytes[..length].to_vec();
        let at = table + number * size_of::<u64>();
        if let Some(place) = bytes.get_mut(at..at + 8) {
            place.copy_from_slice(&set.to_le_bytes());
        }
        let at = std::mem::offset_of!(Header, length);
        bytes[at..at + 4].copy_from_slice(&(length as u32).to_le_bytes());
        let at = std::mem::offset_of!(Header, crc32);
        let crc32 = checksum(&bytes);
        bytes[at..at + 4].copy_from_slice(&crc32.to_le_bytes());
        let aligned = blob::aligned(&bytes);
        Blob::parse(&aligned).map(|blob| blob.managed()[number])
    };
    assert_eq!(with(2, 0b011, length), Ok(0b011));
    let refused = Err(Error::Table("the managed VMs out of range"));
    for (number, set) in [(0, 0b001), (2, 0b100), (1, 0b1000), (1, 1 << 63)] {
        assert_eq!(with(number, set, length), refused, "{number} {set:#b}");
    }
    assert_eq!(with(2, 0, length - 8), Err(Error::Truncated));
}
