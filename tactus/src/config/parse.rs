//! From TOML to [`Config`].

use std::path::{Path, PathBuf};

use tactus_abi::blob::{Migration, ReadyQueue};
use tactus_policy::reservation::Kind;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::model::{
    Accelerator, Accelerators, Allocator, Chain, Channel, Class, Config, Costs, CriticalityLevel,
    Device, EmulatedDevice, FileName, FlashArea, HypervisorMemory, Io, IoPolicies, IoPolicy,
    IoPort, OnFault, PciFunction, Stimulus, System, Task, TimedIo, UartUse, Vcpu, Vm, Window,
};
use super::reader::{Key, Meant, Reader, Table, Value, cure_of_unknown, meant_word};
use super::source::{At, Source};
use crate::problem::{Code, Problem, io_reason};
use crate::profile;

const FILE: &[Key] = &[
    ("system", ""),
    ("fabric", ""),
    ("accelerators", ""),
    ("io", ""),
    ("vm", ""),
    ("channel", ""),
    ("chain", ""),
];
/// Of a system of tiles.
const FILE_OF_TILES: &[Key] = &[("system", ""), ("fabric", ""), ("io", ""), ("vm", "")];
const SYSTEM: &[Key] = &[
    ("platform", "\"qemu-virt\""),
    ("harts", "2"),
    ("memory", "\"1GiB\""),
    ("slice", "\"10ms\""),
    ("deferral_period", "\"500us\""),
    ("be_reserve", "\"10%\""),
    ("be_latency", "\"10ms\""),
    ("separation", "true"),
    ("dispatch_ahead", "true"),
    ("migration", "\"automatic\""),
    ("user_only", "[0]"),
    ("ready_queue", "\"bitmap\""),
    ("cache_colours", "true"),
    ("hypervisor_memory", "\"onchip\""),
];
const SYSTEM_OF_TILES: &[Key] = &[("platform", "\"manycore\"")];
const FABRIC: &[Key] = &[("design", "\"stamp\"")];
const ACCELERATORS: &[Key] = &[
    ("manager", "\"device-manager\""),
    ("hold", "\"100us\""),
    ("give_up", "\"1s\""),
    ("turn", "\"1ms\""),
    ("turn_every", "\"100ms\""),
    ("allocator", "\"off\""),
    ("costs", ""),
];
const COSTS: &[Key] = &[
    ("trap", "\"760ns\""),
    ("resume", "\"640ns\""),
    ("interrupt", "\"810ns\""),
    ("search", "\"500ns\""),
    ("assign", "\"1130ns\""),
    ("assign_configure", "\"2770ns\""),
    ("preempt", "\"340ns\""),
    ("configured", "\"640ns\""),
    ("stopped", "\"280ns\""),
];
const IO: &[Key] = &[("manager", "\"io-manager\""), ("policy", "")];
const IO_OF_TILES: &[Key] = &[("policy", "")];
const POLICY: &[Key] = &[
    ("uart", "\"round-robin\""),
    ("flash", "\"fifo\""),
    ("vga", "\"round-robin\""),
    ("ethernet", "\"fixed-priority\""),
];
const VM: &[Key] = &[
    ("name", "\"first\""),
    ("image", "\"guest.elf\""),
    ("memory", "\"16MiB\""),
    ("onchip_memory", "\"64KiB\""),
    ("host_address", "0x9000_0000"),
    ("cache_colours", "\"0-7\""),
    ("initrd", "\"initramfs.cpio\""),
    ("bootargs", "\"console=ttyS0\""),
    ("console", "true"),
    ("counters", "true"),
    ("on_fault", "\"restart\""),
    ("manages", "[\"another VM\"]"),
    ("rt_vcpus", "1"),
    ("rt_share", "\"10%\""),
    ("rt_memory", "\"64KiB\""),
    ("vcpu", ""),
    ("task", ""),
    ("device", ""),
    ("pci", ""),
    ("accelerator", ""),
    ("io_port", ""),
    ("timed_io", ""),
];
const VM_OF_TILE: &[Key] = &[
    ("name", "\"first\""),
    ("image", "\"guest.elf\""),
    ("tile", "0"),
    ("talks_to", "[\"another VM\"]"),
    ("bootargs", "\"rounds=10\""),
    ("io_port", ""),
    ("timed_io", ""),
];
const ON_FAULT: &[Key] = &[("signal", "\"another VM\"")];
/// What a `budget` is that is none.
const UNLIMITED: &str = "unlimited";
const VCPU: &[Key] = &[
    ("class", "\"be\""),
    ("hart", "0"),
    ("harts", "[0]"),
    ("priority", "200"),
    ("period", "\"1ms\""),
    ("budget", "\"200us\""),
    ("deadline", "\"1ms\""),
    ("kind", "\"periodic\""),
    ("criticality", "\"low\""),
    ("budget_high", "\"400us\""),
    ("reload", "\"10us\""),
    ("dispatch_ahead", "true"),
    ("interrupt_distance", "\"100us\""),
    ("warm", "\"guest.warm.toml\""),
];
const TASK: &[Key] = &[
    ("name", "\"control\""),
    ("vcpu", "0"),
    ("period", "\"10ms\""),
    ("wcet", "\"500us\""),
    ("deadline", "\"5ms\""),
    ("priority", "3"),
    ("stimulus", "\"interrupt\""),
    ("jitter", "\"200us\""),
];
const DEVICE: &[Key] = &[
    ("name", "\"rtc\""),
    ("address", "0x10_1000"),
    ("size", "\"4KiB\""),
    ("guest_address", "0x5000_0000"),
    ("interrupts", "[11]"),
    ("trusted", "true"),
];
const PCI: &[Key] = &[("slot", "1"), ("id", "\"1af4:1042\"")];
const ACCELERATOR: &[Key] = &[
    ("task", "\"qam16\""),
    ("vcpu", "0"),
    ("per_job", "1"),
    ("within", "\"10ms\""),
];
const IO_PORT: &[Key] = &[
    ("uart", "\"write\""),
    ("flash", ""),
    ("vga", ""),
    ("ethernet", "\"02:00:00:00:00:01\""),
];
const FLASH: &[Key] = &[
    ("address", "0x0"),
    ("size", "\"64KiB\""),
    ("writable", "true"),
];
const VGA: &[Key] = &[("x", "0"), ("y", "0"), ("width", "160"), ("height", "120")];
const TIMED_IO: &[Key] = &[("pins", "[0, 1]")];
const CHANNEL: &[Key] = &[
    ("name", "\"link\""),
    ("between", "[\"one VM\", \"another VM\"]"),
    ("size", "\"4KiB\""),
    ("messages", "8"),
    ("message_size", "\"256B\""),
    ("calls", "\"10us\""),
    ("device", ""),
    ("reserved_memory", "true"),
];
const EMULATED_DEVICE: &[Key] = &[
    ("compatible", "\"virtio,mmio\""),
    ("address", "0x2a00_0000"),
    ("size", "\"4KiB\""),
    ("memory", "true"),
];
const CHAIN: &[Key] = &[
    ("name", "\"brake\""),
    ("deadline", "\"20ms\""),
    ("steps", "[\"sensor.sample\", \"link\", \"control.loop\"]"),
];

impl Value for FileName {
    const EXPECTED: &'static str =
        "a file's path, or `@` and the name of something this project builds";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str()? {
            "" | "@" => None,
            text => Some(match text.strip_prefix('@') {
                Some(name) => Self::Artifact(name.into()),
                None => Self::Path(PathBuf::from(text)),
            }),
        }
    }
}

impl Value for Class {
    const EXPECTED: &'static str = "`\"rt\"` (real time) or `\"be\"` (best effort)";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str()? {
            "rt" => Some(Self::Rt),
            "be" => Some(Self::Be),
            _ => None,
        }
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        meant_word(value, &["rt", "be"])
    }
}

impl Value for Stimulus {
    const EXPECTED: &'static str = "`\"sampled\"` or `\"interrupt\"`";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str()? {
            "sampled" => Some(Self::Sampled),
            "interrupt" => Some(Self::Interrupt),
            _ => None,
        }
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        meant_word(value, &["sampled", "interrupt"])
    }
}

impl Value for Allocator {
    const EXPECTED: &'static str = "`\"on\"` or `\"off\"`";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str()? {
            "on" => Some(Self::On),
            "off" => Some(Self::Off),
            _ => None,
        }
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        meant_word(value, &["on", "off"])
    }
}

impl Value for Migration {
    const EXPECTED: &'static str = "`\"off\"`, `\"always\"` or `\"automatic\"`";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str()? {
            "off" => Some(Self::Off),
            "always" => Some(Self::Always),
            "automatic" => Some(Self::Automatic),
            _ => None,
        }
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        meant_word(value, &["off", "always", "automatic"])
    }
}

impl Value for ReadyQueue {
    const EXPECTED: &'static str =
        "`\"linear\"`, `\"bitmap\"`, `\"gp\"`, `\"acp\"`, `\"acp-polling\"` or `\"hybrid\"`";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|queue| queue.name() == name)
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        meant_word(value, &Self::ALL.map(Self::name))
    }
}

impl Value for HypervisorMemory {
    const EXPECTED: &'static str = "`\"main\"` or `\"onchip\"`";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str()? {
            "main" => Some(Self::Main),
            "onchip" => Some(Self::Onchip),
            _ => None,
        }
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        meant_word(value, &["main", "onchip"])
    }
}

impl Value for IoPolicy {
    const EXPECTED: &'static str = "`\"round-robin\"`, `\"fixed-priority\"` or `\"fifo\"`";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str()? {
            "round-robin" => Some(Self::RoundRobin),
            "fixed-priority" => Some(Self::FixedPriority),
            "fifo" => Some(Self::Fifo),
            _ => None,
        }
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        meant_word(value, &["round-robin", "fixed-priority", "fifo"])
    }
}

impl Value for Kind {
    const EXPECTED: &'static str = "`\"server\"` or `\"periodic\"`";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str()? {
            "server" => Some(Self::Server),
            "periodic" => Some(Self::Periodic),
            _ => None,
        }
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        meant_word(value, &["server", "periodic"])
    }
}

impl Value for CriticalityLevel {
    const EXPECTED: &'static str = "`\"high\"` or `\"low\"`";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str()? {
            "high" => Some(Self::High),
            "low" => Some(Self::Low),
            _ => None,
        }
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        meant_word(value, &["high", "low"])
    }
}

impl Value for UartUse {
    const EXPECTED: &'static str = "`\"write\"` or `\"read-write\"`";

    fn read(value: &DeValue<'_>) -> Option<Self> {
        match value.as_str()? {
            "write" => Some(Self::Write),
            "read-write" => Some(Self::ReadWrite),
            _ => None,
        }
    }

    fn meant(value: &DeValue<'_>) -> Option<Meant> {
        meant_word(value, &["write", "read-write"])
    }
}

impl Config {
    /// Reads a description from its file.
    ///
    /// # Errors
    /// The file cannot be read, or is not TOML.
    pub fn read(path: &Path) -> Result<(Self, Vec<Problem>), Vec<Problem>> {
        Self::read_edited(path, |text| text)
    }

    /// Reads a description from what `edit` makes of its file's text.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn read_edited(
        path: &Path,
        edit: impl FnOnce(String) -> String,
    ) -> Result<(Self, Vec<Problem>), Vec<Problem>> {
        let source = Source::read(path).map_err(|error| {
            vec![Problem::new(
                Code::Unreadable,
                format!("cannot read {}: {}", path.display(), io_reason(&error)),
                "name a readable `system.toml`",
            )]
        })?;
        let source = Source::new(source.name(), edit(source.text().to_owned()));
        let directory = path.parent().unwrap_or(Path::new(""));
        Self::parse(source, directory)
    }

    /// Reads a description whose paths are relative to `directory`. What is wrong with single values is
    /// returned beside the rest.
    ///
    /// # Errors
    /// The text is not TOML.
    pub fn parse(source: Source, directory: &Path) -> Result<(Self, Vec<Problem>), Vec<Problem>> {
        let (document, errors) = DeTable::parse_recoverable(source.text());
        if !errors.is_empty() {
            return Err(syntax_problems(&source, &errors));
        }
        let mut reader = Reader::new(source.clone());
        let root = |keys| Table::new("the file", document.span(), document.get_ref(), keys);
        let system = read_system(&mut reader, &root(FILE));
        let of_tiles = is_of_tiles(&system);
        let root = root(if of_tiles { FILE_OF_TILES } else { FILE });
        let design = read_fabric(&mut reader, &root);
        let accelerators = if of_tiles {
            None
        } else {
            read_accelerators(&mut reader, &root)
        };
        let io = read_io(&mut reader, &root, of_tiles);
        if root.raw("vm").is_none() {
            let problem = Problem::new(
                Code::MissingKey,
                "the system has no VM",
                if of_tiles {
                    "add a table `[[vm]]` with a name and an image"
                } else {
                    "add a table `[[vm]]` with a name, an image, memory and a `[[vm.vcpu]]`"
                },
            );
            reader.note(problem, &system.span, "no `[[vm]]` follows");
        }
        let keys = if of_tiles { VM_OF_TILE } else { VM };
        let vms = root
            .tables(&mut reader, ("vm", "vm"), "VM", keys)
            .into_iter()
            .map(|table| {
                if of_tiles {
                    read_vm_of_tile(&mut reader, table)
                } else {
                    read_vm(&mut reader, table)
                }
            })
            .collect();
        let channels = if of_tiles {
            Vec::new()
        } else {
            root.tables(&mut reader, ("channel", "channel"), "channel", CHANNEL)
                .into_iter()
                .map(|table| read_channel(&mut reader, table))
                .collect()
        };
        let chains = if of_tiles {
            Vec::new()
        } else {
            root.tables(&mut reader, ("chain", "chain"), "chain", CHAIN)
                .into_iter()
                .map(|table| read_chain(&mut reader, table))
                .collect()
        };
        root.finish(&mut reader);
        let (problems, wrong) = reader.finish();
        let mut config = Self {
            source: source.clone(),
            wrong,
            directory: directory.to_path_buf(),
            system,
            design,
            accelerators,
            io,
            vms,
            channels,
            machine: None,
            chains,
        };
        config.add_manager();
        Ok((config, problems))
    }
}

pub(super) fn syntax_problems(source: &Source, errors: &[toml::de::Error]) -> Vec<Problem> {
    let mut seen: Vec<(&str, Option<std::ops::Range<usize>>)> = Vec::new();
    let mut problems = Vec::new();
    for error in errors {
        let place = (error.message(), error.span());
        if seen.contains(&place) {
            continue;
        }
        let problem = Problem::new(
            Code::Syntax,
            format!("not TOML: {}", error.message()),
            "correct the line; the format is described at https://toml.io",
        );
        problems.push(match error.span() {
            Some(span) => problem.at(source, &span, "here"),
            None => problem,
        });
        seen.push(place);
    }
    problems
}

fn read_system(reader: &mut Reader, root: &Table<'_>) -> System {
    let span = root.span();
    let Some(value) = root.raw("system") else {
        let problem = Problem::new(
            Code::MissingKey,
            "the file: missing table `[system]`",
            "begin it with `[system]` and `platform = \"qemu-virt\"`",
        );
        reader.note(problem, &span, "`[system]` is missing");
        return System::default();
    };
    let Some(entries) = value.get_ref().as_table() else {
        let problem = Problem::new(
            Code::WrongValue,
            "`system` must be a table",
            "begin it with a line `[system]`",
        );
        reader.note(problem, &value.span(), "this is no table");
        return System::default();
    };
    let table = |keys| Table::new("`[system]`", value.span(), entries, keys);
    let mut system = System {
        span: value.span(),
        platform: table(SYSTEM).required(reader, "platform"),
        ..System::default()
    };
    if is_of_tiles(&system) {
        table(SYSTEM_OF_TILES).finish(reader);
        return system;
    }
    let table = table(SYSTEM);
    system = System {
        harts: table.optional(reader, "harts"),
        memory: table.optional(reader, "memory"),
        slice: table.optional(reader, "slice"),
        deferral_period: table.optional(reader, "deferral_period"),
        be_reserve: table.optional(reader, "be_reserve"),
        be_latency: table.optional(reader, "be_latency"),
        separation: table.optional(reader, "separation"),
        dispatch_ahead: table.optional(reader, "dispatch_ahead"),
        migration: table.optional(reader, "migration"),
        user_only: table.array(reader, "user_only"),
        ready_queue: table.optional(reader, "ready_queue"),
        cache_colours: table.optional(reader, "cache_colours"),
        hypervisor_memory: table.optional(reader, "hypervisor_memory"),
        ..system
    };
    table.finish(reader);
    system
}

/// Whether the platform is a board of tiles, which has no hypervisor in software.
fn is_of_tiles(system: &System) -> bool {
    let platform = system.platform.as_ref();
    platform.is_some_and(|name| profile::is_of_tiles(&name.value))
}

fn read_fabric(reader: &mut Reader, root: &Table<'_>) -> Option<At<String>> {
    let value = root.raw("fabric")?;
    let cure = "begin it with a line `[fabric]`";
    let entries = entries_of(reader, "fabric", cure, value)?;
    let table = Table::new("`[fabric]`", value.span(), entries, FABRIC);
    let design = table.required(reader, "design");
    table.finish(reader);
    design
}

/// The entries of a table that stands under a key; `None`, noted, where it is none.
fn entries_of<'t>(
    reader: &mut Reader,
    key: &str,
    cure: &str,
    value: &'t Spanned<DeValue<'t>>,
) -> Option<&'t DeTable<'t>> {
    let entries = value.get_ref().as_table();
    if entries.is_none() {
        let problem = Problem::new(
            Code::WrongValue,
            format!("`{key}` must be a table"),
            cure.to_owned(),
        );
        reader.note(problem, &value.span(), "this is no table");
    }
    entries
}

fn read_accelerators(reader: &mut Reader, root: &Table<'_>) -> Option<Accelerators> {
    let value = root.raw("accelerators")?;
    let cure = "begin it with a line `[accelerators]`";
    let entries = entries_of(reader, "accelerators", cure, value)?;
    let table = Table::new("`[accelerators]`", value.span(), entries, ACCELERATORS);
    let accelerators = Accelerators {
        span: value.span(),
        manager: table.optional(reader, "manager"),
        hold: table.optional(reader, "hold"),
        give_up: table.optional(reader, "give_up"),
        turn: table.optional(reader, "turn"),
        turn_every: table.optional(reader, "turn_every"),
        allocator: table.optional(reader, "allocator"),
        costs: table
            .raw("costs")
            .and_then(|value| read_costs(reader, value)),
    };
    table.finish(reader);
    Some(accelerators)
}

fn read_costs(reader: &mut Reader, value: &Spanned<DeValue<'_>>) -> Option<Costs> {
    let cure = "begin it with a line `[accelerators.costs]`";
    let entries = entries_of(reader, "costs", cure, value)?;
    let table = Table::new("`[accelerators.costs]`", value.span(), entries, COSTS);
    let costs = Costs {
        trap: table.required(reader, "trap"),
        resume: table.required(reader, "resume"),
        interrupt: table.required(reader, "interrupt"),
        search: table.required(reader, "search"),
        assign: table.required(reader, "assign"),
        assign_configure: table.required(reader, "assign_configure"),
        preempt: table.required(reader, "preempt"),
        configured: table.required(reader, "configured"),
        stopped: table.required(reader, "stopped"),
    };
    table.finish(reader);
    Some(costs)
}

/// A board of tiles has no manager VM.
fn read_io(reader: &mut Reader, root: &Table<'_>, of_tiles: bool) -> Option<Io> {
    let value = root.raw("io")?;
    let entries = entries_of(reader, "io", "begin it with a line `[io]`", value)?;
    let keys = if of_tiles { IO_OF_TILES } else { IO };
    let table = Table::new("`[io]`", value.span(), entries, keys);
    let manager = if of_tiles {
        None
    } else {
        table.required(reader, "manager")
    };
    let io = Io {
        span: value.span(),
        manager,
        policies: table
            .raw("policy")
            .and_then(|value| read_policies(reader, value))
            .unwrap_or_default(),
    };
    table.finish(reader);
    Some(io)
}

fn read_policies(reader: &mut Reader, value: &Spanned<DeValue<'_>>) -> Option<IoPolicies> {
    let cure = "write it as in `policy = { flash = \"fifo\" }`";
    let entries = entries_of(reader, "policy", cure, value)?;
    let table = Table::new("`policy` of `[io]`", value.span(), entries, POLICY);
    let policies = IoPolicies {
        uart: table.optional(reader, "uart"),
        flash: table.optional(reader, "flash"),
        vga: table.optional(reader, "vga"),
        ethernet: table.optional(reader, "ethernet"),
    };
    table.finish(reader);
    Some(policies)
}

fn read_vm(reader: &mut Reader, mut table: Table<'_>) -> Vm {
    let name: Option<At<String>> = table.required(reader, "name");
    if let Some(name) = &name {
        table.call(format!("VM `{}`", name.value));
    }
    let vm = Vm {
        name,
        image: table.required(reader, "image"),
        memory: table.required(reader, "memory"),
        onchip_memory: table.optional(reader, "onchip_memory"),
        host_address: table.optional(reader, "host_address"),
        cache_colours: table.optional(reader, "cache_colours"),
        initrd: table.optional(reader, "initrd"),
        bootargs: table.optional(reader, "bootargs"),
        console: table
            .optional(reader, "console")
            .is_none_or(|console| console.value),
        counters: table
            .optional(reader, "counters")
            .is_some_and(|counters| counters.value),
        on_fault: match table.raw("on_fault") {
            Some(value) => read_on_fault(reader, &table, value),
            None => OnFault::Halt,
        },
        manages: table.array(reader, "manages"),
        rt_vcpus: table.optional(reader, "rt_vcpus"),
        rt_share: table.optional(reader, "rt_share"),
        rt_memory: table.optional(reader, "rt_memory"),
        vcpus: table
            .tables(reader, ("vcpu", "vm.vcpu"), "vCPU", VCPU)
            .into_iter()
            .enumerate()
            .map(|(index, vcpu)| read_vcpu(reader, table.what(), index, vcpu))
            .collect(),
        tasks: table
            .tables(reader, ("task", "vm.task"), "task", TASK)
            .into_iter()
            .map(|task| read_task(reader, table.what(), task))
            .collect(),
        devices: table
            .tables(reader, ("device", "vm.device"), "device", DEVICE)
            .into_iter()
            .map(|device| read_device(reader, table.what(), device))
            .collect(),
        pci: table
            .tables(reader, ("pci", "vm.pci"), "PCI function", PCI)
            .into_iter()
            .map(|function| read_pci(reader, table.what(), function))
            .collect(),
        accelerators: table
            .tables(
                reader,
                ("accelerator", "vm.accelerator"),
                "accelerator",
                ACCELERATOR,
            )
            .into_iter()
            .map(|accelerator| read_accelerator(reader, table.what(), accelerator))
            .collect(),
        io_ports: read_io_ports(reader, &table),
        timed_io: read_timed_io(reader, &table),
        ..Vm::empty(table.span())
    };
    table.finish(reader);
    vm
}

/// A VM that has a tile, all of it.
fn read_vm_of_tile(reader: &mut Reader, mut table: Table<'_>) -> Vm {
    let name: Option<At<String>> = table.required(reader, "name");
    if let Some(name) = &name {
        table.call(format!("VM `{}`", name.value));
    }
    let vm = Vm {
        name,
        image: table.required(reader, "image"),
        tile: table.optional(reader, "tile"),
        talks_to: table.array(reader, "talks_to"),
        bootargs: table.optional(reader, "bootargs"),
        io_ports: read_io_ports(reader, &table),
        timed_io: read_timed_io(reader, &table),
        ..Vm::empty(table.span())
    };
    table.finish(reader);
    vm
}

fn read_on_fault(reader: &mut Reader, vm: &Table<'_>, value: &Spanned<DeValue<'_>>) -> OnFault {
    let mut signalled = None;
    if let Some(entries) = value.get_ref().as_table() {
        let what = format!("`on_fault` of {}", vm.what());
        let table = Table::new(what, value.span(), entries, ON_FAULT);
        signalled = table.required(reader, "signal");
        table.finish(reader);
    }
    let word = value.get_ref().as_str();
    match (word, signalled) {
        (Some("halt"), _) => OnFault::Halt,
        (Some("restart"), _) => OnFault::Restart,
        (_, Some(signalled)) => OnFault::Signal(signalled),
        (_, None) if value.get_ref().is_table() => OnFault::Halt,
        (_, None) => {
            let known = ["halt", "restart"];
            let problem = Problem::new(
                Code::WrongValue,
                format!(
                    "{}: `on_fault` must be \"halt\", \"restart\" or {{ signal = \"other VM\" }}",
                    vm.what()
                ),
                match word {
                    Some(word) => cure_of_unknown(word, &known),
                    None => "write `on_fault = \"halt\"`".into(),
                },
            );
            reader.note(problem, &value.span(), "this is none of them");
            OnFault::Halt
        }
    }
}

fn read_vcpu(reader: &mut Reader, vm: &str, index: usize, mut table: Table<'_>) -> Vcpu {
    table.call(format!("vCPU {index} of {vm}"));
    let unlimited = table
        .raw("budget")
        .filter(|value| value.get_ref().as_str() == Some(UNLIMITED));
    let budget = if unlimited.is_some() {
        None
    } else {
        table.optional(reader, "budget")
    };
    let vcpu = Vcpu {
        span: table.span(),
        class: table.required(reader, "class"),
        hart: table.optional(reader, "hart"),
        harts: table.array(reader, "harts"),
        priority: table.optional(reader, "priority"),
        period: table.optional(reader, "period"),
        budget,
        unlimited: unlimited.map(|value| value.span()),
        deadline: table.optional(reader, "deadline"),
        kind: table.optional(reader, "kind"),
        criticality: table.optional(reader, "criticality"),
        budget_high: table.optional(reader, "budget_high"),
        reload: table.optional(reader, "reload"),
        dispatch_ahead: table.optional(reader, "dispatch_ahead"),
        interrupt_distance: table.optional(reader, "interrupt_distance"),
        warm: table.optional(reader, "warm"),
    };
    table.finish(reader);
    vcpu
}

fn read_task(reader: &mut Reader, vm: &str, mut table: Table<'_>) -> Task {
    let name: Option<At<String>> = table.required(reader, "name");
    if let Some(name) = &name {
        table.call(format!("task `{}` of {vm}", name.value));
    }
    let task = Task {
        span: table.span(),
        name,
        vcpu: table.optional(reader, "vcpu"),
        period: table.required(reader, "period"),
        wcet: table.required(reader, "wcet"),
        deadline: table.optional(reader, "deadline"),
        priority: table.required(reader, "priority"),
        stimulus: table.optional(reader, "stimulus"),
        jitter: table.optional(reader, "jitter"),
    };
    table.finish(reader);
    task
}

fn read_device(reader: &mut Reader, vm: &str, mut table: Table<'_>) -> Device {
    table.call(format!("a device of {vm}"));
    let name: Option<At<String>> = table.optional(reader, "name");
    if let Some(name) = &name {
        table.call(format!("device `{}` of {vm}", name.value));
    }
    let device = Device {
        span: table.span(),
        name,
        address: table.required(reader, "address"),
        size: table.required(reader, "size"),
        guest_address: table.optional(reader, "guest_address"),
        interrupts: table
            .array(reader, "interrupts")
            .map(|interrupts| interrupts.value)
            .unwrap_or_default(),
        trusted: table
            .optional(reader, "trusted")
            .is_some_and(|trusted: At<bool>| trusted.value),
    };
    table.finish(reader);
    device
}

fn read_pci(reader: &mut Reader, vm: &str, mut table: Table<'_>) -> PciFunction {
    table.call(format!("a PCI function of {vm}"));
    let function = PciFunction {
        span: table.span(),
        slot: table.optional(reader, "slot"),
        id: table.optional(reader, "id"),
    };
    let named = ["slot", "id"].map(|key| table.raw(key).is_some());
    let wrong = match named {
        [true, true] => Some((
            Code::WrongValue,
            "has both `slot` and `id`",
            "remove one of them",
        )),
        [false, false] => Some((
            Code::MissingKey,
            "missing key `slot` or `id`",
            "add a line such as `slot = 1`, or `id = \"1af4:1042\"`",
        )),
        _ => None,
    };
    if let Some((code, what, cure)) = wrong {
        let problem = Problem::new(code, format!("{}: {what}", table.what()), cure);
        reader.note(problem, &function.span, what);
    }
    table.finish(reader);
    function
}

fn read_accelerator(reader: &mut Reader, vm: &str, mut table: Table<'_>) -> Accelerator {
    table.call(format!("an accelerator of {vm}"));
    let accelerator = Accelerator {
        span: table.span(),
        task: table.required(reader, "task"),
        vcpu: table.optional(reader, "vcpu"),
        per_job: table.optional(reader, "per_job"),
        within: table.optional(reader, "within"),
    };
    table.finish(reader);
    accelerator
}

fn read_io_ports(reader: &mut Reader, vm: &Table<'_>) -> Vec<IoPort> {
    vm.tables(reader, ("io_port", "vm.io_port"), "I/O port", IO_PORT)
        .into_iter()
        .map(|port| read_io_port(reader, vm.what(), port))
        .collect()
}

fn read_io_port(reader: &mut Reader, vm: &str, mut table: Table<'_>) -> IoPort {
    table.call(format!("an I/O port of {vm}"));
    let flash = table.raw("flash");
    let vga = table.raw("vga");
    let port = IoPort {
        span: table.span(),
        uart: table.optional(reader, "uart"),
        flash: flash.and_then(|value| read_flash_area(reader, vm, value)),
        vga: vga.and_then(|value| read_window(reader, vm, value)),
        ethernet: table.optional(reader, "ethernet"),
    };
    table.finish(reader);
    port
}

fn read_flash_area(
    reader: &mut Reader,
    vm: &str,
    value: &Spanned<DeValue<'_>>,
) -> Option<FlashArea> {
    let cure = "write it as in `flash = { address = 0x0, size = \"64KiB\", writable = true }`";
    let entries = entries_of(reader, "flash", cure, value)?;
    let what = format!("`flash` of an I/O port of {vm}");
    let table = Table::new(what, value.span(), entries, FLASH);
    let area = FlashArea {
        span: value.span(),
        address: table.required(reader, "address"),
        size: table.required(reader, "size"),
        writable: table
            .optional(reader, "writable")
            .is_some_and(|writable| writable.value),
    };
    table.finish(reader);
    Some(area)
}

fn read_window(reader: &mut Reader, vm: &str, value: &Spanned<DeValue<'_>>) -> Option<Window> {
    let cure = "write it as in `vga = { x = 0, y = 0, width = 160, height = 120 }`";
    let entries = entries_of(reader, "vga", cure, value)?;
    let what = format!("`vga` of an I/O port of {vm}");
    let table = Table::new(what, value.span(), entries, VGA);
    let window = Window {
        span: value.span(),
        x: table.required(reader, "x"),
        y: table.required(reader, "y"),
        width: table.required(reader, "width"),
        height: table.required(reader, "height"),
    };
    table.finish(reader);
    Some(window)
}

fn read_timed_io(reader: &mut Reader, vm: &Table<'_>) -> Option<TimedIo> {
    let value = vm.raw("timed_io")?;
    let cure = "begin it with a line `[vm.timed_io]`";
    let entries = entries_of(reader, "timed_io", cure, value)?;
    let what = format!("timed I/O of {}", vm.what());
    let table = Table::new(what, value.span(), entries, TIMED_IO);
    table.require(reader, "pins");
    let timed_io = TimedIo {
        span: value.span(),
        pins: table.array(reader, "pins"),
    };
    table.finish(reader);
    Some(timed_io)
}

fn read_channel(reader: &mut Reader, mut table: Table<'_>) -> Channel {
    let name: Option<At<String>> = table.required(reader, "name");
    if let Some(name) = &name {
        table.call(format!("channel `{}`", name.value));
    }
    table.require(reader, "between");
    let between = table.array(reader, "between").and_then(|between| {
        let ends: Result<[At<String>; 2], _> = between.value.try_into();
        if let Err(ends) = &ends {
            let problem = Problem::new(
                Code::WrongValue,
                format!(
                    "{}: `between` must name two VMs, not {}",
                    table.what(),
                    ends.len()
                ),
                "name two VMs: `between = [\"one VM\", \"another VM\"]`",
            );
            reader.note(problem, &between.span, "its ends");
        }
        ends.ok()
    });
    let channel = Channel {
        span: table.span(),
        name,
        between,
        size: table.required(reader, "size"),
        messages: table.optional(reader, "messages"),
        message_size: table.optional(reader, "message_size"),
        calls: table.optional(reader, "calls"),
        device: read_emulated_device(reader, &table),
        reserved_memory: table
            .optional(reader, "reserved_memory")
            .is_some_and(|reserved| reserved.value),
    };
    table.finish(reader);
    channel
}

fn read_emulated_device(reader: &mut Reader, channel: &Table<'_>) -> Option<EmulatedDevice> {
    let value = channel.raw("device")?;
    let cure = "write it as in `device = { compatible = \"virtio,mmio\", memory = true }`";
    let entries = entries_of(reader, "device", cure, value)?;
    let what = format!("`device` of {}", channel.what());
    let table = Table::new(what, value.span(), entries, EMULATED_DEVICE);
    let device = EmulatedDevice {
        span: value.span(),
        compatible: table.optional(reader, "compatible"),
        address: table.optional(reader, "address"),
        size: table.optional(reader, "size"),
        memory: table
            .optional(reader, "memory")
            .is_some_and(|memory| memory.value),
    };
    table.finish(reader);
    Some(device)
}

fn read_chain(reader: &mut Reader, mut table: Table<'_>) -> Chain {
    let name: Option<At<String>> = table.required(reader, "name");
    if let Some(name) = &name {
        table.call(format!("chain `{}`", name.value));
    }
    table.require(reader, "steps");
    let chain = Chain {
        span: table.span(),
        name,
        deadline: table.required(reader, "deadline"),
        steps: table.array(reader, "steps"),
    };
    table.finish(reader);
    chain
}
