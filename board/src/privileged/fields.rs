//! The fields of status, delegation and configuration registers, by name.

/// Fields of `mstatus` (section 3.1.6), and of `sstatus` and `vsstatus`, which have some of them in the same places.
#[expect(missing_docs, reason = "the names are the specification's")]
pub mod mstatus {
    pub const SIE: u64 = 1 << 1;
    pub const MIE: u64 = 1 << 3;
    pub const SPIE: u64 = 1 << 5;
    pub const MPIE: u64 = 1 << 7;
    pub const SPP: u64 = 1 << 8;
    pub const MPP: u64 = 3 << 11;
    pub const MPP_SHIFT: u32 = 11;
    pub const FS: u64 = 3 << 13;
    pub const MPRV: u64 = 1 << 17;
    pub const SUM: u64 = 1 << 18;
    pub const MXR: u64 = 1 << 19;
    pub const TVM: u64 = 1 << 20;
    pub const TW: u64 = 1 << 21;
    pub const TSR: u64 = 1 << 22;
    pub const UXL_64: u64 = 2 << 32;
    pub const SXL_64: u64 = 2 << 34;
    pub const GVA: u64 = 1 << 38;
    pub const MPV: u64 = 1 << 39;
    pub const SD: u64 = 1 << 63;
    /// The fields visible and writable in `sstatus` and `vsstatus`.
    pub const SUPERVISOR: u64 = SIE | SPIE | SPP | FS | SUM | MXR;
    /// The writable fields, of which MPP takes 0, 1 and 3 alone.
    pub const WRITABLE: u64 = SUPERVISOR | MIE | MPIE | MPP | MPRV | TVM | TW | TSR | GVA | MPV;
    /// The fields that select the translation of explicit loads and stores.
    pub const TRANSLATION: u64 = MPRV | MPP | MPV | SUM | MXR;
}

/// Fields of `hstatus` (section 8.2.1).
#[expect(missing_docs, reason = "the names are the specification's")]
pub mod hstatus {
    pub const GVA: u64 = 1 << 6;
    pub const SPV: u64 = 1 << 7;
    pub const SPVP: u64 = 1 << 8;
    pub const HU: u64 = 1 << 9;
    pub const VTVM: u64 = 1 << 20;
    pub const VTW: u64 = 1 << 21;
    pub const VTSR: u64 = 1 << 22;
    pub const VSXL_64: u64 = 2 << 32;
    pub const WRITABLE: u64 = GVA | SPV | SPVP | HU | VTVM | VTW | VTSR;
}

/// Interrupts as bits of `mip` and `mie` (sections 3.1.9 and 8.4.3).
#[expect(
    missing_docs,
    reason = "the names are the specification's, without the trailing P"
)]
pub mod interrupts {
    pub const SSI: u64 = 1 << 1;
    pub const VSSI: u64 = 1 << 2;
    pub const MSI: u64 = 1 << 3;
    pub const STI: u64 = 1 << 5;
    pub const VSTI: u64 = 1 << 6;
    pub const MTI: u64 = 1 << 7;
    pub const SEI: u64 = 1 << 9;
    pub const VSEI: u64 = 1 << 10;
    pub const MEI: u64 = 1 << 11;
    /// Those of M.
    pub const MACHINE: u64 = MSI | MTI | MEI;
    /// Those of S.
    pub const SUPERVISOR: u64 = SSI | STI | SEI;
    /// Those of VS.
    pub const VIRTUAL: u64 = VSSI | VSTI | VSEI;
    /// All of them. There is no SGEI: it comes with guest external interrupts (sections 8.2.3 and 8.4.2).
    pub const ALL: u64 = MACHINE | SUPERVISOR | VIRTUAL;
}

/// Fields of `menvcfg`, `henvcfg` and `senvcfg` (sections 3.1.18, 4.1.10 and 8.2.5; Sstc; Svadu; Zicbom and
/// Zicboz).
pub(super) mod envcfg {
    /// Fences of I/O imply fences of memory.
    pub const FIOM: u64 = 1;
    /// `cbo.inval`: 0 it is not enabled, 1 it flushes, 3 it invalidates; 2 is reserved.
    pub const CBIE: u64 = 3 << 4;
    /// The reserved value of `CBIE`.
    pub const CBIE_RESERVED: u64 = 2 << 4;
    /// `cbo.inval` does what `cbo.flush` does.
    pub const CBIE_FLUSH: u64 = 1 << 4;
    /// `cbo.clean` and `cbo.flush` are enabled.
    pub const CBCFE: u64 = 1 << 6;
    /// `cbo.zero` is enabled.
    pub const CBZE: u64 = 1 << 7;
    /// Accessed and dirty bits are set by hardware.
    pub const ADUE: u64 = 1 << 61;
    /// `stimecmp` (or `vstimecmp`) works.
    pub const STCE: u64 = 1 << 63;
}

/// The exceptions that can be delegated to S-mode: all that a mode below M can meet.
pub(super) const MEDELEG: u64 = 0x00f0_b7ff;
/// The exceptions that can be delegated to VS-mode (section 8.2.2).
pub(super) const HEDELEG: u64 = 0x0000_b1ff;
