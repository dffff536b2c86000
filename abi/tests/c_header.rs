//! The C header agrees with the Rust modules.

use std::collections::BTreeMap;
use std::mem::offset_of;
use tactus_abi::accelerator;
use tactus_abi::hypercall::{self, CallBlock, Refusal, RtStatus};
use tactus_abi::interrupts::InterruptPage;
use tactus_abi::management;
use tactus_abi::map;

const HEADER: &str = include_str!("../include/tactus.h");

/// Names and values of the header's numbers.
fn numbers() -> BTreeMap<&'static str, i128> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None if text == "UINT64_MAX" => Some(u64::MAX.into()),
        None => text.parse().ok(),
    };
    HEADER
        .lines()
        .filter_map(|line| line.strip_prefix("#define TACTUS_")?.split_once(' '))
        .map(|(name, text)| {
            (
                name,
                number(text).unwrap_or_else(|| panic!("{name}: {text}")),
            )
        })
        .collect()
}

#[test]
fn numbers_agree() {
    let mut numbers = numbers();
    for (name, value) in [
        ("EXTENSION", hypercall::EXTENSION as i128),
        ("VERSION", hypercall::VERSION as i128),
        ("CHANNEL_NOTIFY", hypercall::CHANNEL_NOTIFY as i128),
        ("VM_STATUS", hypercall::VM_STATUS as i128),
        ("VM_RESTART", hypercall::VM_RESTART as i128),
        ("CPU_TIME", hypercall::CPU_TIME as i128),
        ("RT_CREATE", hypercall::RT_CREATE as i128),
        ("RT_QUERY", hypercall::RT_QUERY as i128),
        ("RT_CHANGE", hypercall::RT_CHANGE as i128),
        ("RT_DELETE", hypercall::RT_DELETE as i128),
        ("RT_YIELD", hypercall::RT_YIELD as i128),
        ("MESSAGE_SEND", hypercall::MESSAGE_SEND as i128),
        ("MESSAGE_RECEIVE", hypercall::MESSAGE_RECEIVE as i128),
        ("INTERRUPT_PAGE", hypercall::INTERRUPT_PAGE as i128),
        ("INTERRUPT_END", hypercall::INTERRUPT_END as i128),
        (
            "ACCELERATOR_REQUESTS",
            hypercall::ACCELERATOR_REQUESTS as i128,
        ),
        ("ACCELERATOR_BASE", map::ACCELERATOR_BASE.into()),
        ("IO_PORT_BASE", map::IO_PORT_BASE.into()),
        ("TIMED_IO_BASE", map::TIMED_IO_BASE.into()),
        ("SLOT_SIZE", accelerator::SLOT_SIZE as i128),
        ("SLOT_SIGNAL", accelerator::SIGNAL as i128),
        ("SLOT_COMMAND", accelerator::COMMAND as i128),
        ("SLOT_COMPLETED", accelerator::COMPLETED as i128),
        ("SIGNAL_WAIT", accelerator::SIGNAL_WAIT.into()),
        ("SIGNAL_READY", accelerator::SIGNAL_READY.into()),
        ("SIGNAL_PREEMPT", accelerator::SIGNAL_PREEMPT.into()),
        ("COMMAND_REQUEST", accelerator::COMMAND_REQUEST.into()),
        ("COMMAND_CANCEL", accelerator::COMMAND_CANCEL.into()),
        ("RT_SELF", hypercall::RT_SELF.into()),
        (
            "ALREADY_STARTED_ERROR",
            management::ALREADY_STARTED_ERROR.into(),
        ),
        (
            "ALREADY_STOPPED_ERROR",
            management::ALREADY_STOPPED_ERROR.into(),
        ),
        ("BAD_RANGE_ERROR", hypercall::BAD_RANGE_ERROR.into()),
        ("TIMEOUT_ERROR", hypercall::TIMEOUT_ERROR.into()),
        ("REFUSAL_COUNT", Refusal::Count as i128),
        ("REFUSAL_SHARE", Refusal::Share as i128),
        ("REFUSAL_UTILISATION", Refusal::Utilisation as i128),
        ("REFUSAL_DEMAND", Refusal::Demand as i128),
        ("REFUSAL_UNDECIDED", Refusal::Undecided as i128),
        ("CALL_SERVE", hypercall::CALL_SERVE as i128),
        ("CALL", hypercall::CALL as i128),
        ("CALL_REPLY", hypercall::CALL_REPLY as i128),
        ("VM_STOP", management::VM_STOP as i128),
        ("VM_LOAD", management::VM_LOAD as i128),
        ("VM_WRITE", management::VM_WRITE as i128),
        ("VM_START", management::VM_START as i128),
        ("VM_COUNTERS", management::VM_COUNTERS as i128),
        ("VM_CONSOLE", management::VM_CONSOLE as i128),
        ("CALL_BASE", map::CALL_BASE.into()),
        // SBI specification 2.0, chapter "Binary Encoding".
        ("FAILED", -1),
        ("NOT_SUPPORTED", -2),
        ("INVALID_PARAM", -3),
        ("DENIED", -4),
        ("INVALID_ADDRESS", -5),
        ("ALREADY_AVAILABLE", -6),
    ] {
        assert_eq!(numbers.remove(name), Some(value), "TACTUS_{name}");
    }
    assert!(numbers.is_empty(), "only in the header: {numbers:?}");
}

/// Compares with the generated registers of a virtual device.
#[test]
fn start_register_has_the_offset_of_the_generated_registers() {
    let generated = include_str!("../../fabric/generated/virtual_device_regs.h");
    let (_, map) = generated.split_once("typedef struct").expect("the map");
    let words = map.lines().filter(|line| line.contains("uint32_t "));
    let place = words
        .map(|line| line.trim().trim_start_matches("uint32_t "))
        .position(|name| name == "START;");
    assert_eq!(
        place.map(|place| 4 * place as u64),
        Some(accelerator::START)
    );
    assert!(generated.contains("VIRTUAL_DEVICE__START__FLAG_bp 0\n"));
}

/// Names of the members of a structure of the header, with their offsets; all are 32 or 64 bits wide.
fn members(structure: &str) -> Vec<(String, usize)> {
    let (_, rest) = HEADER
        .split_once(&format!("struct {structure} {{\n"))
        .unwrap_or_else(|| panic!("no struct {structure}"));
    let (body, _) = rest.split_once("};").expect("it ends");
    let mut offset = 0;
    let mut members = Vec::new();
    for line in body.lines() {
        let (kind, name) = line
            .trim()
            .trim_end_matches(';')
            .split_once(' ')
            .expect("a member");
        let (name, count) = match name.split_once('[') {
            Some((name, count)) => (name, count.trim_end_matches(']').parse().expect("a count")),
            None => (name, 1),
        };
        let size: usize = match kind {
            "uint32_t" => 4,
            "uint64_t" | "int64_t" => 8,
            other => panic!("{other} {name}"),
        };
        members.push((name.to_owned(), offset));
        offset += count * size;
    }
    members.push(("(end)".to_owned(), offset));
    members
}

#[test]
fn layouts_agree() {
    let expected = |members: &[(&str, usize)]| -> Vec<_> {
        members
            .iter()
            .map(|&(name, at)| (name.to_owned(), at))
            .collect()
    };
    assert_eq!(
        members("tactus_rt_status"),
        expected(&[
            ("period", offset_of!(RtStatus, period)),
            ("budget", offset_of!(RtStatus, budget)),
            ("deadline", offset_of!(RtStatus, deadline)),
            ("hart", offset_of!(RtStatus, hart)),
            ("release", offset_of!(RtStatus, record.release)),
            ("jobs", offset_of!(RtStatus, record.jobs)),
            ("used", offset_of!(RtStatus, record.used)),
            ("used_max", offset_of!(RtStatus, record.used_max)),
            ("overruns", offset_of!(RtStatus, record.overruns)),
            ("lost", offset_of!(RtStatus, record.lost)),
            ("missed", offset_of!(RtStatus, record.missed)),
            (
                "interference_max",
                offset_of!(RtStatus, record.interference_max)
            ),
            ("skipped", offset_of!(RtStatus, record.skipped)),
            ("late_max", offset_of!(RtStatus, record.late_max)),
            ("late", offset_of!(RtStatus, record.late)),
            ("extended", offset_of!(RtStatus, record.extended)),
            ("dropped", offset_of!(RtStatus, record.dropped)),
            ("(end)", size_of::<RtStatus>()),
        ])
    );
    assert_eq!(
        members("tactus_call"),
        expected(&[
            ("function", offset_of!(CallBlock, function)),
            ("arguments", offset_of!(CallBlock, arguments)),
            ("error", offset_of!(CallBlock, error)),
            ("value", offset_of!(CallBlock, value)),
            ("(end)", size_of::<CallBlock>()),
        ])
    );
    assert_eq!(
        members("tactus_interrupt_page"),
        expected(&[
            ("pending", offset_of!(InterruptPage, pending)),
            ("enabled", offset_of!(InterruptPage, enabled)),
            ("reserved", offset_of!(InterruptPage, reserved)),
            ("(end)", size_of::<InterruptPage>()),
        ])
    );
}
