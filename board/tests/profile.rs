//! Profiles: those that come with the crate, and the errors for wrong ones.

use std::path::Path;

use tactus_board::devices::Console;
use tactus_board::profile::{DeviceKind, Profile};
use tactus_board::setup::{self, Options};
use tactus_board::time::{Clock, Femtoseconds};
use tactus_board::timing::Timing;
use tactus_board::timing::parameters::Memory;

const SOC: &str = include_str!("../../profiles/soc.toml");
const MPSOC: &str = include_str!("../../profiles/mpsoc.toml");
const QEMU: &str = include_str!("../../profiles/qemu-virt.toml");

#[test]
fn every_profile_is_read_and_makes_a_board() {
    assert_eq!(
        Profile::names().collect::<Vec<_>>(),
        ["soc", "soc-ocm", "soc-pci", "mpsoc", "manycore"]
    );
    for name in Profile::names() {
        let profile = Profile::named(name).expect("a listed profile");
        assert_eq!(profile.name, name);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../profiles/{name}.toml"));
        assert_eq!(Profile::read(&path).as_ref(), Ok(&profile));
        if profile.tiles {
            assert_eq!((profile.harts.default, profile.harts.max), (16, 16));
            continue;
        }
        assert_eq!(profile.timebase_hz, 10_000_000);
        assert_eq!(
            (
                profile.harts.default,
                profile.harts.max,
                profile.harts.first_id
            ),
            (2, 4, 0)
        );
        assert_eq!(profile.memory.base, 0x8000_0000);
        let kinds: Vec<_> = profile.devices.iter().map(|device| device.kind).collect();
        let virtio = (0..8).map(DeviceKind::Virtio);
        use DeviceKind::{Clint, Finisher, Plic, Rtc, SpareUart, Sswi, Uart};
        assert_eq!(
            kinds,
            [Finisher, Rtc, Clint, Sswi, Plic, Uart]
                .into_iter()
                .chain(virtio)
                .chain([SpareUart])
                .chain(profile.fabric.iter().map(|_| DeviceKind::Fabric))
                .collect::<Vec<_>>()
        );
        for harts in 1..=profile.harts.max {
            assert_eq!(
                Timing::new(&profile.timing, harts as usize, 1).check_coherence(),
                Ok(())
            );
        }
    }
    assert_eq!(Profile::named("qemu-virt"), None);
}

/// A board comes with its spare UART where that is wanted, and has one console the more.
#[test]
fn a_spare_uart_comes_where_it_is_wanted() {
    let profile = Profile::named("mpsoc").expect("it comes with the crate");
    for spare_uart in [None, Some(Console::new())] {
        let wanted = spare_uart.is_some();
        let options = Options {
            harts: Some(1),
            memory: Some(16 << 20),
            spare_uart,
            ..Options::default()
        };
        let (board, _) = setup::board(&profile, &options, Vec::new()).expect("a board");
        let mut devices = board.devices();
        let spare = devices.find(|(name, ..)| *name == "spare-uart");
        assert_eq!(
            spare.map(|(_, address, _)| address),
            wanted.then_some(0x1000_9000)
        );
    }
}

#[test]
fn clocks_of_the_profiles() {
    let soc = Profile::named("soc").expect("it comes with the crate");
    assert_eq!(
        Clock::from_hertz(soc.clock_hz).period(),
        Femtoseconds(1_500_000)
    );
    let fabric = soc.fabric.expect("soc has a fabric");
    assert_eq!(
        Clock::from_hertz(fabric.clock_hz).period(),
        Femtoseconds(10_000_000)
    );
    let mpsoc = Profile::named("mpsoc").expect("it comes with the crate");
    assert_eq!(
        Clock::from_hertz(mpsoc.clock_hz).period(),
        Femtoseconds(10_000_000)
    );
    assert_eq!(mpsoc.fabric, None);
    assert!(
        mpsoc.timing.caches.is_none()
            && mpsoc.timing.tlb.is_none()
            && mpsoc.timing.predictor.is_none()
    );
    assert_eq!(mpsoc.timing.memory.transfer(), 0);
}

/// The checker's sections of a board equal those of QEMU's machine.
///
/// They differ in the name, the number of harts and memory, the hypervisor's own time, and the devices; and what a way
/// of the cache holds follows from a board's own section.
#[test]
fn the_sections_of_the_checker_are_those_of_qemu() {
    let mut qemu: toml::Table = QEMU.parse().expect("a TOML file");
    qemu.remove("cache_way").expect("QEMU's has it");
    // A system whose VMs have PCI functions runs on both.
    let pci: toml::Table = include_str!("../../profiles/soc-pci.toml")
        .parse()
        .expect("a TOML file");
    assert_eq!(qemu.remove("pci").as_ref(), pci.get("pci"));
    let list = |table: &toml::Table| table["device"].as_array().expect("a list").clone();
    for text in [SOC, MPSOC] {
        let mut table: toml::Table = text.parse().expect("a TOML file");
        table.remove("board").expect("the board's own section");
        assert!(qemu.keys().eq(table.keys()));
        for (key, value) in &qemu {
            if !["name", "harts", "memory", "overheads", "device"].contains(&key.as_str()) {
                assert_eq!(&table[key], value, "{key}");
            }
        }
        let own = |device: &toml::Value| {
            let name = device["name"].as_str();
            name.is_some_and(|name| ["sswi", "spare-uart", "fabric"].contains(&name))
        };
        assert!(
            list(&table)
                .iter()
                .filter(|device| !own(device))
                .all(|device| list(&qemu).contains(device))
        );
        assert_eq!(
            list(&table).iter().filter(|device| !own(device)).count(),
            13
        );
    }
}

/// The profile `soc` with `from`, which occurs once, replaced by `to`.
fn changed(from: &str, to: &str) -> String {
    assert_eq!(SOC.matches(from).count(), 1, "{from}");
    SOC.replace(from, to)
}

/// The number of the first line of `text` with `what`, counted from 1.
fn line(text: &str, what: &str) -> usize {
    // A leading newline belongs to the line before.
    let offset = text.find(what).expect("it is there") + usize::from(what.starts_with('\n'));
    text[..offset].matches('\n').count() + 1
}

/// Asserts that `soc` with `from` replaced by `to` is refused with the message `reason`, on the line with `at`.
#[track_caller]
fn refused(from: &str, to: &str, at: &str, reason: &str) {
    let text = changed(from, to);
    let error = Profile::parse("board.toml", &text).expect_err("a wrong profile");
    assert_eq!(
        (error.line, error.reason.as_str()),
        (line(&text, at), reason),
        "{error}"
    );
    let source = text
        .lines()
        .nth(error.line - 1)
        .expect("a line of the file");
    let source = source.split('#').next().unwrap_or_default().trim();
    assert_eq!(
        error.to_string(),
        format!("board.toml:{}: `{source}`: {reason}", error.line)
    );
}

/// The same where the error is at the wrong text itself.
#[track_caller]
fn refused_there(from: &str, to: &str, reason: &str) {
    refused(from, to, to, reason);
}

#[test]
fn figures_out_of_range() {
    refused_there(
        "\nquantum = 64",
        "\nquantum = 0",
        "must be 1 to 1000000, not 0",
    );
    refused_there(
        "\nclock_hz = 666_666_667",
        "\nclock_hz = 12",
        "must be 1000 to 10000000000, not 12",
    );
    refused_there(
        "\nclock_hz = 100_000_000",
        "\nclock_hz = -1",
        "must be 1000 to 10000000000, not -1",
    );
    refused_there(
        "\ntimebase_hz = 10_000_000",
        "\ntimebase_hz = 1",
        "must be 1000 to 1000000000, not 1",
    );
    refused_there("\nissue = 2", "\nissue = 3", "must be 1 to 2, not 3");
    refused_there(
        "\ndivide = 34",
        "\ndivide = 1_000",
        "must be 1 to 256, not 1000",
    );
    refused_there("\nmax = 4\n", "\nmax = 17\n", "must be 1 to 16, not 17");
    refused_there(
        "\nentries = 4 ",
        "\nentries = 99 ",
        "must be 1 to 16, not 99",
    );
    refused_there(
        "\nfetch_entries = 32",
        "\nfetch_entries = 0",
        "must be 1 to 1024, not 0",
    );
    refused_there(
        "\nreturn_stack = 8",
        "\nreturn_stack = 257",
        "must be 0 to 256, not 257",
    );
    refused_there(
        "\nl2_latency = 26",
        "\nl2_latency = 9_999",
        "must be 0 to 4096, not 9999",
    );
    refused_there("\nbanks = 8", "\nbanks = 0", "must be 1 to 1024, not 0");
    refused_there(
        "\nread = 30",
        "\nread = 1_000_001",
        "must be 0 to 1000000, not 1000001",
    );
}

#[test]
fn keys_that_are_missing_or_unknown() {
    let unknown = "unknown field `speculation`, expected one of `issue`, `alu`, `load`, `multiply`, `divide`, \
                   `divide_word`, `float_add`, `float_multiply`, `float_fused`, `float_move`, \
                   `float_divide_single`, `float_divide_double`, `float_root_single`, `float_root_double`, `csr`, \
                   `fence`, `fence_i`, `translation_fence`, `atomic`, `trap_return`, `trap`";
    refused_there("\nissue = 2", "\nspeculation = 2", unknown);
    refused("\nquantum = 64", "", "\n[board]", "missing field `quantum`");
    refused(
        "\nquantum = 64",
        "\nquantum = 64\nturbo = true",
        "\nturbo",
        "unknown field `turbo`, expected one of `clock_hz`, `quantum`, `fast_quantum`, `tiles`, `fabric`, `iommu`, `timing`",
    );
    refused(
        "\nbank_busy = 5",
        "",
        "\n[board.timing.memory.open-row]",
        "missing field `bank_busy`",
    );
    refused_there(
        "\ndirection = \"gshare\"",
        "\ndirection = \"oracle\"",
        "unknown variant `oracle`, expected `bimodal` or `gshare`",
    );
    refused_there(
        "\nwalks = \"l1d\"",
        "\nwalks = \"l3\"",
        "unknown variant `l3`, expected `l1d` or `l2`",
    );
    refused_there(
        "\nissue = 2",
        "\nissue = \"two\"",
        "invalid type: string \"two\", expected i64",
    );
    let error = Profile::parse("qemu-virt.toml", QEMU).expect_err("it is no board's");
    assert_eq!(error.to_string(), "qemu-virt.toml:1: missing field `board`");
}

#[test]
fn shapes_that_do_not_exist() {
    refused(
        "\nways = 8 ",
        "\nways = 7 ",
        "\n[board.timing.caches.l2]",
        "`size` must be a power of two times `ways` times `line`: 524288 bytes are not in 7 ways of 32",
    );
    let l1i = "[board.timing.caches.l1i]\nsize = \"32KiB\"           # [UG585]\nways = 4                 # [UG585]\nline = 32 ";
    let with_line = |line: u32| l1i.replace("line = 32", &format!("line = {line}"));
    refused(
        l1i,
        &with_line(48),
        "\n[board.timing.caches.l1i]",
        "`line` must be a power of two, not 48",
    );
    refused(
        l1i,
        &with_line(64),
        "\n[board.timing.caches]",
        "all caches must have the same `line`, not 64, 32 and 32 bytes",
    );
    refused_there(
        "\nsize = \"512KiB\"",
        "\nsize = \"512KB\"",
        "must be a size such as \"32KiB\" (B, KiB, MiB, GiB), not \"512KB\"",
    );
    refused(
        "\nsize = \"512KiB\"",
        "\nsize = \"1GiB\"",
        "\n[board.timing.caches.l2]",
        "`size` must be at most 64 MiB, not 1073741824 bytes",
    );
    let predictor = "\n[board.timing.predictor]";
    refused(
        "\ncounters = 4096",
        "\ncounters = 4095",
        predictor,
        "`counters` must be a power of two, not 4095",
    );
    refused(
        "\ntargets = 512",
        "\ntargets = 510",
        predictor,
        "`targets` must be a power of two times `target_ways`: 510 are not in 2 ways",
    );
    refused(
        "\nhistory_bits = 8",
        "\nhistory_bits = 0",
        predictor,
        "`direction` is gshare, so `history_bits` must be 1 to 20",
    );
    refused(
        "\ndirection = \"gshare\"",
        "\ndirection = \"bimodal\"",
        predictor,
        "`direction` is bimodal, which has no use for `history_bits`",
    );
    refused(
        "\nentries = 128",
        "\nentries = 100",
        "\n[board.timing.tlb.second]",
        "`entries` must be a power of two times `ways`: 100 are not in 2 ways",
    );
    refused(
        "\nentries = 4              # [TRM] 7.1: four entries of 64 bits\noutstanding = 2",
        "\nentries = 4              # [TRM] 7.1: four entries of 64 bits\noutstanding = 5",
        "\n[board.timing.store_buffer]",
        "`outstanding` must be at most `entries`, not 5 of 4",
    );
    let dram = "\n[board.timing.memory.open-row]";
    refused(
        "\nbanks = 8",
        "\nbanks = 6",
        dram,
        "`banks` must be a power of two, not 6",
    );
    refused(
        "\nrow_bytes = 4096",
        "\nrow_bytes = 4000",
        dram,
        "`row_bytes` must be a power of two, not 4000",
    );
    refused(
        "\nrefresh_interval = 0",
        "\nrefresh_interval = 5_200",
        dram,
        "`refresh_interval` and `refresh_cycles` must both be given or both be 0",
    );
}

#[test]
fn a_refresh_that_never_ends() {
    let text = changed("\nrefresh_interval = 0", "\nrefresh_interval = 100");
    let text = text.replace("\nrefresh_cycles = 0", "\nrefresh_cycles = 100");
    let error = Profile::parse("board.toml", &text).expect_err("a wrong profile");
    assert_eq!(
        error.reason,
        "`refresh_cycles` must be less than `refresh_interval`, not 100 of 100"
    );
    let text = text.replace("\nrefresh_cycles = 100", "\nrefresh_cycles = 99");
    let profile = Profile::parse("board.toml", &text).expect("a profile");
    assert!(matches!(profile.timing.memory, Memory::OpenRow(row) if row.refresh_cycles == 99));
}

#[test]
fn harts_memory_and_devices_that_do_not_fit() {
    refused(
        "\ndefault = 2\n",
        "\ndefault = 5\n",
        "\n[harts]",
        "`default` must be at most `max`, not 5 of 4",
    );
    refused(
        "\ndefault = \"1GiB\"",
        "\ndefault = \"5GiB\"",
        "\n[memory]",
        "`default` must be at most `max`",
    );
    refused(
        "\ndefault = \"1GiB\"",
        "\ndefault = \"5000B\"",
        "\n[memory]",
        "`default` must be a multiple of 4 KiB, not 0x1388",
    );
    refused(
        "\nmax = \"4GiB\"",
        "\nmax = \"99999999GiB\"",
        "\n[memory]",
        "memory must end within 2^56 bytes",
    );
    refused_there(
        "\nmax = \"4GiB\"",
        "\nmax = \"99999999999GiB\"",
        "must be a size such as \"32KiB\" (B, KiB, MiB, GiB), not \"99999999999GiB\"",
    );
    let device = |name: &str| format!("[[device]]\nname = \"{name}\"");
    refused(
        &device("rtc"),
        &device("gpu"),
        &device("gpu"),
        "the board has no device `gpu`: it has finisher, rtc, clint, sswi, plic, uart, spare-uart, fabric, virtio-mmio-0 to virtio-mmio-7",
    );
    refused(
        &device("virtio-mmio-7"),
        &device("virtio-mmio-8"),
        &device("virtio-mmio-8"),
        "the board has no device `virtio-mmio-8`: it has finisher, rtc, clint, sswi, plic, uart, spare-uart, fabric, virtio-mmio-0 to \
         virtio-mmio-7",
    );
    let again = "device `virtio-mmio-3` is there twice";
    let text = changed(&device("virtio-mmio-5"), &device("virtio-mmio-3"));
    let error = Profile::parse("board.toml", &text).expect_err("a wrong profile");
    let second = text.rfind(&device("virtio-mmio-3")).expect("it is there");
    assert_eq!(
        (error.line, error.reason.as_str()),
        (text[..second].matches('\n').count() + 1, again)
    );
    refused(
        "\naddress = 0x10_1000\n",
        "\naddress = 0x10_0800\n",
        &device("rtc"),
        "devices `finisher` and `rtc` overlap at 0x100800",
    );
    refused(
        "\naddress = 0x1000_8000\n",
        "\naddress = 0x8000_0000\n",
        &device("virtio-mmio-7"),
        "device `virtio-mmio-7` must end below memory at 0x80000000",
    );
    refused(
        "\ninterrupts = [11]",
        "\ninterrupts = [1024]",
        &device("rtc"),
        "`interrupts` of device `rtc` must be 1 to 1023, not 1024",
    );
    let region = "name = \"plic\"\naddress = 0xc00_0000\nsize = \"6MiB\"\nread";
    refused(
        region,
        &region.replace("0xc00_0000", "0x200_8000"),
        "\n[[board.timing.region]]",
        "regions `clint` and `plic` overlap at 0x2008000",
    );
}

#[test]
fn files_that_are_none() {
    let error = Profile::parse("board.toml", "name = \"x\"\nharts = [\n").expect_err("no TOML");
    assert_eq!((error.file.as_str(), error.line), ("board.toml", 2));
    let error = Profile::read(Path::new("/nowhere/board.toml")).expect_err("no file");
    assert!(
        error.to_string().starts_with("/nowhere/board.toml: "),
        "{error}"
    );
    assert_eq!(error.line, 0);
}

#[test]
fn pci_hosts_that_cannot_be() {
    let text = |host: &str| format!("name = \"mine\"\nextends = \"soc\"\n{host}");
    let host = "[pci]\necam = 0x3000_0000\nwindow = 0x5000_0000\nwindow_size = \"256MiB\"\n\
                interrupts = [32, 33, 34, 35]\n";
    let iommu = "[pci.iommu]\naddress = 0x301_0000\ninterrupts = [36, 37]\n";
    let sizes = "[board.iommu]\ntranslations = 1\ncontexts = 1\n";
    let parse = |host: &str| Profile::parse("mine.toml", &text(host));
    assert!(parse(host).expect("without an IOMMU").pci.is_some());
    let whole = [host, iommu, sizes].concat();
    let both = parse(&whole).expect("with one").pci.expect("a host");
    assert_eq!(both.iommu.expect("an IOMMU").interrupts, [36, 37]);
    for (from, to, reason) in [
        (
            "0x3000_0000",
            "0x3000_1000",
            "`ecam` must begin and end at a multiple of 1024 KiB",
        ),
        ("0x5000_0000", "0x3000_0000", "`window` overlaps `ecam`"),
        ("0x5000_0000", "0x4000_0000", "`window` overlaps fabric"),
        (
            "0x5000_0000",
            "0x7800_0000",
            "`window` must end below memory at 0x80000000",
        ),
        ("0x301_0000", "0x200_0000", "the IOMMU overlaps clint"),
        (
            "0x301_0000",
            "0x301_0800",
            "the IOMMU must begin and end at a multiple of 4 KiB",
        ),
        (
            "[36, 37]",
            "[36, 37, 38]",
            "the IOMMU has 1, 2 or 4 `interrupts`, not 3",
        ),
        (
            "[36, 37]",
            "[36, 96]",
            "`interrupts` must be 1 to 95, not 96",
        ),
        ("[32, 33,", "[0, 33,", "`interrupts` must be 1 to 95, not 0"),
        (
            sizes,
            "",
            "`[pci.iommu]` and `[board.iommu]` need each other",
        ),
        (
            iommu,
            "",
            "`[pci.iommu]` and `[board.iommu]` need each other",
        ),
    ] {
        let error = parse(&whole.replace(from, to)).expect_err(reason);
        assert_eq!((error.line, error.reason.as_str()), (3, reason));
    }
    let error = parse(sizes).expect_err("no host");
    assert_eq!(error.reason, "`[board.iommu]` needs `[pci.iommu]`");
}

/// What `soc-ocm` does not state is as in `soc`, and messages name the file that a line is in.
#[test]
fn a_profile_can_extend_another_one() {
    let soc = Profile::named("soc").expect("it comes with the crate");
    let parse = |text: &str| Profile::parse("mine.toml", text);
    let mine = parse("name = \"mine\"\nextends = \"soc\"\n").expect("a profile");
    assert_eq!(
        mine,
        Profile {
            name: "mine".to_owned(),
            ..soc.clone()
        }
    );
    let text = "name = \"mine\"\nextends = \"soc\"\n[board.timing.caches]\nl2_latency = 7\n\
        [board.timing.memory.open-row]\nrow_hit = 9\n[harts]\nmax = 3\n";
    let mut mine = parse(text).expect("a profile");
    let caches = mine.timing.caches.as_mut().expect("soc has caches");
    assert_eq!(std::mem::replace(&mut caches.l2_latency, 26), 7);
    assert_eq!(std::mem::replace(&mut mine.harts.max, 4), 3);
    let Memory::OpenRow(row) = &mut mine.timing.memory else {
        panic!("{:?}", mine.timing.memory);
    };
    assert_eq!(std::mem::replace(&mut row.row_hit, 14), 9);
    mine.name = "soc".to_owned();
    assert_eq!(mine, soc);
    // An array takes the place of the other one.
    let text = "name = \"mine\"\nextends = \"soc\"\n[[device]]\nname = \"plic\"\n\
        address = 0xc00_0000\nsize = \"6MiB\"\n";
    assert_eq!(parse(text).expect("a profile").devices.len(), 1);
    for (text, line, reason) in [
        (
            "extends = \"soc\"\n[harts]\nmax = 17\n",
            3,
            "must be 1 to 16, not 17",
        ),
        (
            "name = \"mine\"\nextends = \"soc-ocm\"\n",
            2,
            "`extends` must be one of soc, mpsoc, manycore",
        ),
        (
            "extends = 7\n",
            1,
            "`extends` must be one of soc, mpsoc, manycore",
        ),
        (
            "extends = \"soc\"\n[harts]\nextensions = [\"zicbom\", \"zfh\"]\n",
            3,
            "`extensions` may have zicbom, zicbop, zicboz, not \"zfh\"",
        ),
        (
            "extends = \"soc\"\n[board.timing.prefetch]\n\noutstanding = 0\n",
            4,
            "must be 1 to 16, not 0",
        ),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!(
            (error.file.as_str(), error.line, error.reason.as_str()),
            ("mine.toml", line, reason)
        );
    }
    // Half of what is wrong stands in the other file, which is named.
    let text = "name = \"mine\"\nextends = \"mpsoc\"\n\n[memory]\nbase = 0\n";
    let error = parse(text).expect_err("devices beyond memory");
    assert_eq!(error.file, "profiles/mpsoc.toml");
    assert!(
        MPSOC
            .lines()
            .nth(error.line - 1)
            .is_some_and(|line| line.contains("[[device]]")),
        "{error}"
    );
}
