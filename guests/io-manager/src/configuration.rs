//! The configuration of ports and pins: the node `/io` of the devicetree.
//!
//! | property | cells |
//! |---|---|
//! | `tactus,policies` | 4: those of UART, flash, VGA and Ethernet, in the register's encoding |
//! | `tactus,reader` | 1: the port that receives the UART's input |
//! | `tactus,ports` | for each port 12, as [`Port`] has them |
//! | `tactus,pins` | for each pin that is assigned 2: the pin and the number of the engine |

/// The settings of a port.
pub struct Port {
    /// The devices that it may use, a bit each.
    pub devices: u32,
    /// Its VM's memory: the first page of 4 KiB, and the number of pages.
    pub window: [u32; 2],
    /// Its area of the flash: the first sector of 4 KiB, the number of sectors, and whether it is writable.
    pub flash: [u32; 3],
    /// Its window of the display: x, y, width, height.
    pub vga: [u32; 4],
    /// Its Ethernet address: the first two bytes, and the other four.
    pub station: [u32; 2],
}

/// The contents of the node.
pub struct Configuration<'t> {
    /// The policies of UART, flash, VGA and Ethernet.
    pub policies: [u32; 4],
    /// The port that receives the UART's input.
    pub reader: u32,
    ports: &'t [u8],
    pins: &'t [u8],
}

/// Big-endian cells of 32 bits, in groups of `N`.
fn cells<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u32; N]> {
    let groups = bytes.as_chunks::<4>().0.as_chunks::<N>().0.iter();
    groups.map(|group| group.map(u32::from_be_bytes))
}

impl<'t> Configuration<'t> {
    /// Parses the node, whose properties `property` returns by name; an absent one is empty.
    ///
    /// # Errors
    ///
    /// The property that is missing.
    pub fn of(property: impl Fn(&str) -> &'t [u8]) -> Result<Self, &'static str> {
        let reader = cells::<1>(property("tactus,reader")).next();
        let [reader] = reader.ok_or("no tactus,reader")?;
        let policies = cells(property("tactus,policies")).next();
        Ok(Self {
            policies: policies.ok_or("no tactus,policies")?,
            reader,
            ports: property("tactus,ports"),
            pins: property("tactus,pins"),
        })
    }

    /// The ports, in the order of their numbers.
    pub fn ports(&self) -> impl Iterator<Item = Port> {
        cells(self.ports).map(
            |[
                devices,
                page,
                pages,
                sector,
                sectors,
                writable,
                x,
                y,
                width,
                height,
                upper,
                lower,
            ]| {
                Port {
                    devices,
                    window: [page, pages],
                    flash: [sector, sectors, writable],
                    vga: [x, y, width, height],
                    station: [upper, lower],
                }
            },
        )
    }

    /// The assigned pins, and the engine of each.
    pub fn pins(&self) -> impl Iterator<Item = [u32; 2]> {
        cells(self.pins)
    }
}
