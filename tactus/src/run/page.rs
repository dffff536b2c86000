//! `tactus run --page`: the page of a run's VMs, by a manager that the system has or gets.

use std::thread;

use miette::miette;
use tempfile::TempDir;

use super::offer::Offer;
use crate::ctl::link::Link;
use crate::ctl::page::Page;
use crate::problem::io_reason;

/// The socket's name in its folder.
const SOCKET: &str = "manager";

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
