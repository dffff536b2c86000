//! The PCI functions of the machine: disks and network cards, in slots from 1 on.
//!
//! QEMU's go through its IOMMU: a virtio device does so only with `iommu_platform=on`, and a guest cannot refuse that
//! where there is no legacy interface.

use std::collections::HashSet;
use std::iter;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Command;

use tactus_board::board::Board;
use tactus_board::devices::virtio::Sent;
use tactus_board::setup;

use super::Error;
use crate::boot::{disks, networks};
use crate::cli::{Forward, Net};
use crate::pci::{Model, Slots};

/// Disks, and behind them network cards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// The disks' images. What is written goes into them on QEMU, and is forgotten on the board.
    pub disks: Vec<PathBuf>,
    /// What the network cards are connected with.
    pub nets: Vec<Net>,
}

/// What every virtio function of QEMU's has. It looks at its queues when it is notified, and not when the host has
/// time.
const VIRTIO: &str = "disable-legacy=on,iommu_platform=on,ioeventfd=off";

impl Functions {
    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.disks.is_empty() && self.nets.is_empty()
    }

    /// What is in which slot.
    pub fn slots(&self) -> Slots {
        let disks = self.disks.iter().map(|_| Model::VirtioDisk);
        let nets = self.nets.iter().flat_map(|net| {
            let cards = if *net == Net::Loop { 2 } else { 1 };
            iter::repeat_n(Model::VirtioNet, cards)
        });
        disks.chain(nets).collect()
    }

    /// Why QEMU cannot have them.
    pub(super) fn unfit_for_qemu(&self) -> Option<&'static str> {
        let only_user = self.nets.iter().all(|net| matches!(net, Net::User { .. }));
        (!only_user).then_some("on QEMU a network card has the host's network: --pci-net user")
    }

    /// The ports of the host that are forwarded to guests.
    fn forwards(&self) -> impl Iterator<Item = Forward> {
        self.nets
            .iter()
            .flat_map(|net| match net {
                Net::User { forwards } => &forwards[..],
                _ => &[],
            })
            .copied()
    }

    /// Why a port of the host cannot be forwarded: another program has it, it takes rights, or it is forwarded twice.
    /// One that is taken between this and QEMU's start is QEMU's to refuse.
    pub(super) fn unfit_port(&self) -> Option<String> {
        let mut seen = HashSet::new();
        self.forwards().find_map(|Forward { host, .. }| {
            if !seen.insert(host) {
                return Some(format!("port {host} of this machine is forwarded twice"));
            }
            let error = TcpListener::bind((Ipv4Addr::LOCALHOST, host)).err()?;
            Some(format!(
                "port {host} of this machine cannot be forwarded: {error}"
            ))
        })
    }

    /// Adds them to QEMU's command line.
    pub(super) fn add_to(&self, command: &mut Command) {
        let mut slots = 1..;
        for (disk, slot) in self.disks.iter().zip(slots.by_ref()) {
            // QEMU reads a comma that is doubled as one of the name. What is written is the host kernel's at once, and
            // survives QEMU's end; a guest that flushes does not wait for the host's own disk.
            let file = disk.display().to_string().replace(',', ",,");
            command
                .arg("-drive")
                .arg(format!(
                    "if=none,id=disk{slot},format=raw,cache=unsafe,file={file}"
                ))
                .arg("-device")
                .arg(format!(
                    "virtio-blk-pci,addr={slot},drive=disk{slot},{VIRTIO}"
                ));
        }
        for (net, slot) in self.nets.iter().zip(slots) {
            let mut netdev = format!("user,id=net{slot}");
            if let Net::User { forwards } = net {
                for Forward { host, guest } in forwards {
                    netdev += &format!(",hostfwd=tcp:127.0.0.1:{host}-:{guest}");
                }
            }
            command
                .arg("-netdev")
                .arg(netdev)
                .arg("-device")
                .arg(format!(
                    "virtio-net-pci,addr={slot},netdev=net{slot},romfile=,{VIRTIO}"
                ));
        }
    }

    /// Puts them into a board. Gives where what the network cards send is to be written.
    pub(super) fn plug(
        &self,
        board: &mut Board,
        unfit: impl Fn(String) -> Error,
    ) -> Result<Vec<(PathBuf, Sent)>, Error> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let mut functions = disks("--pci-disk", &self.disks).map_err(|e| unfit(e.to_string()))?;
        let sent = networks(&self.nets, &mut functions).map_err(|e| unfit(e.to_string()))?;
        setup::plug(board, functions).map_err(|error| unfit(error.to_string()))?;
        Ok(sent
            .into_iter()
            .map(|(path, sent)| (path.to_owned(), sent))
            .collect())
    }
}
