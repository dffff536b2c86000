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
use tactus_board::setup;

use super::Error;
use crate::boot::{Ends, disks, networks};
use crate::cli::{self, Forward, Net};
use crate::pci::{Model, Slots};

/// Disks, and behind them network cards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// The disks.
    pub disks: Vec<Disk>,
    /// The network cards.
    pub nets: Vec<Card>,
    /// Whether they reach QEMU's memory without an IOMMU, for software without a driver of it.
    pub direct: bool,
}

/// A disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// What it is.
    pub model: Model,
    /// Its image. What is written goes into it on QEMU, and is forgotten on the board.
    pub image: PathBuf,
}

impl Disk {
    /// A virtio disk with that image.
    pub const fn virtio(image: PathBuf) -> Self {
        Self {
            model: Model::VirtioDisk,
            image,
        }
    }

    /// Reads `FILE`, or `nvme:FILE`. A file whose name begins so is `./nvme:...`.
    pub fn from_text(text: &str) -> Self {
        match text.strip_prefix("nvme:") {
            Some(image) => Self {
                model: Model::Nvme,
                image: image.into(),
            },
            None => Self::virtio(text.into()),
        }
    }
}

/// A network card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// What it is.
    pub model: Model,
    /// What it is connected with.
    pub ends: Net,
}

impl Card {
    /// A virtio network card with these ends.
    pub const fn virtio(ends: Net) -> Self {
        Self {
            model: Model::VirtioNet,
            ends,
        }
    }

    /// Reads the ends of a cable, perhaps behind `e1000e:`.
    ///
    /// # Errors
    /// They are none.
    pub fn from_text(text: &str) -> Result<Self, String> {
        match text.strip_prefix("e1000e:") {
            Some(ends) => cli::net(ends).map(|ends| Self {
                model: Model::E1000e,
                ends,
            }),
            None => cli::net(text).map(Self::virtio),
        }
    }
}

/// What every virtio function of QEMU's has. It looks at its queues when it is notified, and not when the host has
/// time.
const VIRTIO: &str = "disable-legacy=on,iommu_platform=on,ioeventfd=off";

/// Hubs of linked cards are numbered from here on: those of the clock have small numbers.
const HUBS: u32 = 1000;

impl Functions {
    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.disks.is_empty() && self.nets.is_empty()
    }

    /// What is in which slot.
    pub fn slots(&self) -> Slots {
        let disks = self.disks.iter().map(|disk| disk.model);
        let nets = self.nets.iter().flat_map(|card| {
            let cards = if card.ends == Net::Loop { 2 } else { 1 };
            iter::repeat_n(card.model, cards)
        });
        disks.chain(nets).collect()
    }

    /// Why QEMU cannot have them.
    pub(super) fn unfit_for_qemu(&self) -> Option<&'static str> {
        let is_boards = |card: &Card| matches!(card.ends, Net::Files { .. } | Net::Cable { .. });
        self.nets.iter().any(is_boards).then_some(
            "on QEMU a network card has the host's network, or another card: --pci-net user, --pci-net loop",
        )
    }

    /// The ports of the host that are forwarded to guests.
    fn forwards(&self) -> impl Iterator<Item = Forward> {
        self.nets
            .iter()
            .flat_map(|card| match &card.ends {
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
        for (disk, slot) in self.disks.iter().zip(&mut slots) {
            // QEMU reads a comma that is doubled as one of the name. What is written is the host kernel's at once, and
            // survives QEMU's end; a guest that flushes does not wait for the host's own disk. What it discards becomes
            // holes of the file, where its file system has some.
            let file = disk.image.display().to_string().replace(',', ",,");
            command
                .arg("-drive")
                .arg(format!(
                    "if=none,id=disk{slot},format=raw,cache=unsafe,discard=unmap,file={file}"
                ))
                .arg("-device")
                .arg(match disk.model {
                    Model::Nvme => format!("nvme,addr={slot},drive=disk{slot},serial=tactus"),
                    _ => format!("virtio-blk-pci,addr={slot},drive=disk{slot},{VIRTIO}"),
                });
        }
        for card in &self.nets {
            let netdevs = match &card.ends {
                Net::User { forwards } => {
                    let forwards = forwards.iter().map(|Forward { host, guest }| {
                        format!(",hostfwd=tcp:127.0.0.1:{host}-:{guest}")
                    });
                    vec![format!("user{}", forwards.collect::<String>())]
                }
                // Two ports of one hub: a frame is at the other card when the one has sent it.
                _ => {
                    let hub = HUBS + slots.start;
                    vec![format!("hubport,hubid={hub}"); 2]
                }
            };
            for (netdev, slot) in netdevs.into_iter().zip(&mut slots) {
                command
                    .arg("-netdev")
                    .arg(format!("{netdev},id=net{slot}"))
                    .arg("-device")
                    .arg(match card.model {
                        Model::E1000e => format!("e1000e,addr={slot},netdev=net{slot},romfile="),
                        _ => {
                            format!("virtio-net-pci,addr={slot},netdev=net{slot},romfile=,{VIRTIO}")
                        }
                    });
            }
        }
    }

    /// Whether a card has a cable to another run's board.
    pub(super) fn has_cable(&self) -> bool {
        let is_cable = |card: &Card| matches!(card.ends, Net::Cable { .. });
        self.nets.iter().any(is_cable)
    }

    /// Puts them into a board. Gives what is at the ends of the network cards' cables.
    pub(super) fn plug(
        &self,
        board: &mut Board,
        unfit: impl Fn(String) -> Error,
    ) -> Result<Ends, Error> {
        if self.is_empty() {
            return Ok(Ends::default());
        }
        if let Some(model) = self.slots().into_iter().find(|model| !model.is_on_board()) {
            return Err(unfit(format!(
                "the board has virtio functions, and no {}",
                model.name()
            )));
        }
        let images = self.disks.iter().map(|disk| disk.image.as_path());
        let nets = self.nets.iter().map(|card| &card.ends);
        let mut functions = disks("--pci-disk", images).map_err(|e| unfit(e.to_string()))?;
        let ends = networks(nets, &mut functions).map_err(|e| unfit(e.to_string()))?;
        setup::plug(board, functions).map_err(|error| unfit(error.to_string()))?;
        Ok(ends)
    }
}
