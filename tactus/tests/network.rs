//! Guests of several systems on a network switch, and what `--pcap` shows of it.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use mqttrs::Packet;
use pcap_file::DataLink;
use pcap_file::pcap::PcapReader;
use tactus::cli::Wire;
use tactus::run::Boot;
use tactus::run::ports::Ports;
use tactus::run::session::Outcome;

use crate::harness::{On, STUCK, explain, figure, on_both, once, output, root, run_text};

const SYSTEM: &str = "systems/network-guests.toml";
/// What Linux finds in order, and what the others do.
const LINUX: [&str; 5] = [
    "net_ping",
    "net_tcp",
    "net_tcp_same",
    "mqtt_control",
    "mqtt_broker",
];
const OTHERS: [(&str, &str); 2] = [("rust", "network-echo"), ("freertos", "freertos-network")];
/// Temperatures that FreeRTOS publishes.
const VALUES: usize = 20;
/// The switch is asked for those VMs' frames.
const VMS: [&str; 3] = ["linux", "rust", "freertos"];
/// The last number of their addresses.
const ADDRESSES: [u8; 3] = [1, 3, 4];

/// A frame of a file, in parts. All checksums were right.
struct Frame {
    time: Duration,
    bytes: Vec<u8>,
}

/// TCP's bytes of a frame, with the last numbers of the addresses, and the ports, from which and to which they are.
struct Segment {
    ends: [(u8, u16); 2],
    sequence: u32,
    bytes: Vec<u8>,
}

/// Runs the system with a recording of all ports, and reads the files.
fn recorded(on: On) -> (Outcome, [Vec<Frame>; 3]) {
    let folder = tempfile::tempdir().expect("a directory");
    let file = |vm: &str| folder.path().join(format!("{vm}.pcap"));
    let wires = VMS.map(|vm| Wire {
        vm: vm.to_owned(),
        file: file(vm),
    });
    let mut ports = Ok(Ports::default());
    let tell = |config: &mut _| ports = Ports::of(&wires, config);
    let boot = Boot::of_changed(&root().join(SYSTEM), |text| text, tell);
    let mut boot = boot.expect("it is in order");
    let mut ports = ports.expect("all have a port");
    let plan = boot.plan.clone().limit(STUCK).on(on.platform());
    boot.plan = plan.until("linux").expect("it is there");
    boot.plan.kept = ports.keep(&boot.image).expect("it can be kept");
    let outcome = once(&boot);
    let remarks = ports.write(&boot.plan.vms, boot.plan.timebase_hz);
    assert_eq!(remarks.expect("a recording"), [""; 0]);
    (outcome, VMS.map(|vm| frames(&file(vm))))
}

fn frames(path: &Path) -> Vec<Frame> {
    let file = File::open(path).expect("it was written");
    let mut reader = PcapReader::new(file).expect("a capture");
    assert_eq!(reader.header().datalink, DataLink::ETHERNET);
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.expect("whole");
        assert_eq!(packet.orig_len as usize, packet.data.len());
        frames.push(Frame {
            time: packet.timestamp,
            bytes: packet.data.into_owned(),
        });
    }
    frames
}

/// TCP's part of a frame, whose checksums are right.
fn segment(frame: &Frame) -> Option<Segment> {
    let sliced = SlicedPacket::from_ethernet(&frame.bytes).expect("a frame");
    let Some(NetSlice::Ipv4(ip)) = &sliced.net else {
        return None;
    };
    let header = ip.header().to_header();
    assert_eq!(header.header_checksum, header.calc_header_checksum());
    let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else {
        return None;
    };
    let sum = tcp.to_header().calc_checksum_ipv4(&header, tcp.payload());
    assert_eq!(tcp.checksum(), sum.expect("not too long"));
    let last = |address: [u8; 4]| address[3];
    Some(Segment {
        ends: [
            (last(header.source), tcp.source_port()),
            (last(header.destination), tcp.destination_port()),
        ],
        sequence: tcp.sequence_number(),
        bytes: tcp.payload().to_vec(),
    })
}

/// What was sent from a VM's port to another one's by TCP, in order and without repetitions.
fn stream(frames: &[Frame], from: (u8, Option<u16>), to: (u8, Option<u16>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut next = None;
    let is = |end: (u8, u16), wanted: (u8, Option<u16>)| {
        end.0 == wanted.0 && wanted.1.is_none_or(|port| port == end.1)
    };
    for segment in frames.iter().filter_map(segment) {
        if segment.bytes.is_empty() || !is(segment.ends[0], from) || !is(segment.ends[1], to) {
            continue;
        }
        let expected = *next.get_or_insert(segment.sequence);
        let again = expected.wrapping_sub(segment.sequence) as usize;
        if let Some(new) = segment.bytes.get(again..) {
            bytes.extend(new);
            next = Some(expected.wrapping_add(new.len() as u32));
        }
    }
    bytes
}

/// The packets of a stream of MQTT, each as `of` shows it.
fn packets(mut bytes: &[u8], of: impl Fn(Packet<'_>) -> String) -> Vec<String> {
    let mut packets = Vec::new();
    while !bytes.is_empty() {
        let mut packet = vec![0; bytes.len()];
        let length = mqttrs::clone_packet(bytes, &mut packet).expect("a packet");
        assert!(length > 0, "the last packet is not whole");
        let packet = mqttrs::decode_slice(&bytes[..length]).expect("a packet");
        packets.push(of(packet.expect("whole")));
        bytes = &bytes[length..];
    }
    packets
}

/// A packet in short.
fn shown(packet: Packet<'_>) -> String {
    match packet {
        Packet::Connect(connect) => format!("connect {}", connect.client_id),
        Packet::Connack(answer) => format!("connected {:?}", answer.code),
        Packet::Subscribe(wanted) => format!("subscribe {}", wanted.topics[0].topic_path),
        Packet::Suback(answer) => format!("subscribed {:?}", answer.return_codes),
        Packet::Publish(told) => {
            let payload = String::from_utf8_lossy(told.payload);
            let quality = told.qospid.qos() as u8;
            format!("{} {payload} by {quality}", told.topic_name)
        }
        Packet::Puback(_) => "taken".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Guests with smoltcp and with lwIP reach Debian's kernel by ping, TCP and MQTT, by a switch that has of them what is
/// in their channels only. What `--pcap` records of the ports has all of it, whole and in order, with right checksums.
fn guests_of_several_systems_share_a_network(on: On) {
    let (outcome, [linux, rust, freertos]) = recorded(on);
    let passed = |name| &outcome.journal.vm(name).expect("the system has it").passed;
    assert_eq!(passed("linux")[..], LINUX, "{}", explain(&outcome));
    for (name, wanted) in OTHERS {
        assert_eq!(passed(name)[..], [wanted], "{}", explain(&outcome));
    }
    assert_eq!(figure(&outcome, "rust", "echo_bytes"), 65536.0);
    assert_eq!(figure(&outcome, "freertos", "mqtt_values"), VALUES as f64);

    for frames in [&linux, &rust, &freertos] {
        let times = frames.iter().map(|frame| frame.time);
        assert!(times.is_sorted(), "frames are not in order");
        let journal = &outcome.journal;
        let end = journal.last_time * 1_000_000_000 / journal.timebase_hz;
        let last = frames.last().expect("some frames").time;
        assert!(last <= Duration::from_nanos(end), "{last:?} {end}");
    }
    // What Linux sent to the echo's port, and got back, at both ends.
    let (here, echo) = ((ADDRESSES[0], None), (ADDRESSES[1], Some(7)));
    let sent = stream(&rust, here, echo);
    assert_eq!(sent.len(), 65536);
    for frames in [&linux, &rust] {
        assert!(stream(frames, here, echo) == sent, "sent bytes differ");
        assert!(stream(frames, echo, here) == sent, "echoed bytes differ");
    }
    // MQTT, as another implementation reads it.
    let (plant, broker) = ((ADDRESSES[2], None), (ADDRESSES[0], Some(1883)));
    let told = packets(&stream(&freertos, plant, broker), shown);
    let mut wanted = vec![
        "connect freertos".to_owned(),
        "subscribe plant/setpoint".to_owned(),
    ];
    wanted.extend((0..VALUES).map(|value| format!("plant/temperature {} by 1", 20 + value)));
    assert_eq!(told, wanted);
    let answers = packets(&stream(&linux, broker, plant), shown);
    let setpoints = answers.iter().filter(|packet| packet.starts_with("plant/"));
    let wanted: Vec<_> = (0..VALUES)
        .map(|value| format!("plant/setpoint {} by 0", 25 + value))
        .collect();
    assert_eq!(Vec::from_iter(setpoints.cloned()), wanted);
    let taken = answers.iter().filter(|packet| *packet == "taken").count();
    assert_eq!(taken, VALUES);
    let first = ["connected Accepted", "subscribed [Success(AtMostOnce)]"];
    assert_eq!(answers[..2], first);
}

/// The switch has a fault after each 260 accesses, which is behind the start of Linux's driver: Debian's kernel, lwIP
/// and smoltcp send again what was lost, and all that was to come comes.
fn guests_outlive_their_switch(on: On) {
    let text = std::fs::read_to_string(root().join(SYSTEM)).expect("it is there");
    let image = "image = \"@virtio-switch\"\n";
    assert!(text.contains(image), "{text}");
    let faulty = text.replace(image, &format!("{image}bootargs = \"faults=260\"\n"));
    let outcome = run_text(on, &faulty, Some("linux"));
    let vm = |name| outcome.journal.vm(name).expect("the system has it");
    assert_eq!(vm("linux").passed, LINUX, "{}", explain(&outcome));
    for (name, passed) in OTHERS {
        assert_eq!(vm(name).passed, [passed], "{}", explain(&outcome));
    }
    assert_eq!(figure(&outcome, "rust", "echo_bytes"), 65536.0);
    assert_eq!(figure(&outcome, "freertos", "mqtt_values"), VALUES as f64);
    assert!(vm("switch").restarts >= 3, "{}", explain(&outcome));
}

on_both!(
    guests_of_several_systems_share_a_network,
    guests_outlive_their_switch,
);

/// What `--pcap` cannot do is said before the run.
#[test]
fn a_port_that_is_none_is_refused() {
    for (value, wanted) in [
        ("linux", "say VM=FILE, such as linux=linux.pcap"),
        ("other=/tmp/x", "--pcap other: the system has no such VM"),
        (
            "switch=/tmp/x",
            "--pcap switch: the VM has no port of a switch",
        ),
        ("linux=/nowhere/x", "there is no such directory"),
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_tactus"));
        command.current_dir(root());
        command.args(["run", SYSTEM, "--platform", "board", "--pcap", value]);
        let (code, stdout, stderr) = output(command);
        assert_eq!(code, Some(2), "{stdout}{stderr}");
        assert_eq!(stdout, "");
        assert!(stderr.contains(wanted), "{stderr}");
    }
}
