//! `tactus run --page`: the page of a run's VMs, by a manager that the system has or gets.

use std::thread;

use miette::miette;
use tempfile::TempDir;

use super::offer::Offer;
use crate::config::{At, Class, Config, FileName, Size, Vcpu, Vm};
use crate::ctl::link::Link;
use crate::ctl::page::Page;
use crate::problem::io_reason;

/// The names that a manager may get, and the artifact that it is.
const NAMES: [&str; 2] = ["manager", "page-manager"];
const ARTIFACT: &str = "manager";
/// The socket's name in its folder.
const SOCKET: &str = "manager";
const MEMORY: Size = Size(4 << 20);

/// The VM whose console the page's requests go to: the first that manages others, or one that is added and manages all.
pub fn manager(config: &mut Config) -> Option<String> {
    let manages = |vm: &&Vm| vm.manages.as_ref().is_some_and(|all| !all.value.is_empty());
    if let Some(vm) = config.vms.iter().find(manages) {
        return vm.name.as_ref().map(|name| name.value.clone());
    }
    let span = config.system.span.clone();
    let names: Vec<_> = (config.vms.iter())
        .filter_map(|vm| vm.name.clone())
        .collect();
    let is_free = |wanted: &&str| names.iter().all(|name| name.value != **wanted);
    let name = NAMES.into_iter().find(is_free)?.to_owned();
    let vcpu = Vcpu {
        class: Some(At {
            value: Class::Be,
            span: span.clone(),
        }),
        ..Vcpu::empty(span.clone())
    };
    config.vms.push(Vm {
        name: Some(At {
            value: name.clone(),
            span: span.clone(),
        }),
        image: Some(At {
            value: FileName::Artifact(ARTIFACT.to_owned()),
            span: span.clone(),
        }),
        memory: Some(At {
            value: MEMORY,
            span: span.clone(),
        }),
        manages: Some(At {
            value: names,
            span: span.clone(),
        }),
        vcpus: vec![vcpu],
        ..Vm::empty(span)
    });
    Some(name)
}

/// A page that waits for its run, and the socket between them.
pub struct Waiting {
    page: Page,
    directory: TempDir,
}

impl Waiting {
    /// Listens at that port of this machine; 0: any.
    ///
    /// # Errors
    /// The port cannot be had, or no folder for the socket.
    pub fn at(port: u16) -> miette::Result<Self> {
        let page = Page::at(port).map_err(|reason| miette!("--page: {reason}"))?;
        let directory = tempfile::tempdir();
        let directory = directory.map_err(|error| miette!("--page: {}", io_reason(&error)))?;
        Ok(Self { page, directory })
    }

    /// Offers the console of the VM `manager` to the page.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn offer(&self, manager: usize) -> miette::Result<Offer> {
        let offer = Offer::open(manager, &self.directory.path().join(SOCKET));
        offer.map_err(|error| miette!("--page: {}", io_reason(&error)))
    }

    /// Prints the page's address, and serves it until the process ends. The folder of the socket is the caller's to
    /// keep for as long.
    pub fn serve(self) -> TempDir {
        let Self { page, directory } = self;
        eprintln!("Page: {}", page.address());
        let socket = directory.path().join(SOCKET);
        thread::spawn(move || match Link::open(&socket) {
            Ok(link) => page.serve(link),
            Err(failure) => eprintln!("error: --page: {failure}"),
        });
        directory
    }
}
