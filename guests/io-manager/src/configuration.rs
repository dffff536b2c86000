//! What the system says of who has what: the node `/io` of the devicetree.
//!
//! | property | cells |
//! |---|---|
//! | `tactus,policies` | 4: those of UART, flash, VGA and Ethernet, as the register has them |
//! | `tactus,reader` | 1: the port that reads what comes to the UART |
//! | `tactus,ports` | for each port 12, as [`Port`] has them |
//! | `tactus,pins` | for each pin that is assigned 2: the pin and the number of the engine |

/// What a port is given.
pub struct Port {
    /// The devices that it may use, a bit each.
    pub devices: u32,
    /// Its VM's memory: the first page of 4 KiB, and how many there are.
    pub window: [u32; 2],
    /// Its area of the flash: the first sector of 4 KiB, how many there are, and whether it may be changed.
    pub flash: [u32; 3],
    /// Its window of the display: x, y, width, height.
    pub vga: [u32; 4],
    /// Its Ethernet address: the first two bytes, and the other four.
    pub station: [u32; 2],
}

/// What the node says.
pub struct Configuration<'t> {
    /// Those of UART, flash, VGA and Ethernet.
    pub policies: [u32; 4],
    /// The port that reads what comes to the UART.
    pub reader: u32,
    ports: &'t [u8],
    pins: &'t [u8],
}

/// Big-endian cells of 32 bits, so many at a time.
fn cells<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u32; N]> {
    let groups = bytes.as_chunks::<4>().0.as_chunks::<N>().0.iter();
    groups.map(|group| group.map(u32::from_be_bytes))
}

impl<'t> Configuration<'t> {
    /// What the node says, whose properties are asked for by name; one that is not there is empty.
    ///
    /// # Errors
    ///
    /// What is missing.
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

    /// The ports, from the first on.
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

    /// Pins, and the engine of each.
    pub fn pins(&self) -> impl Iterator<Item = [u32; 2]> {
        cells(self.pins)
    }
}
