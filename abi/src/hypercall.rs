//! Tactus's own SBI extension, in the range that the SBI specification (chapter "Extension ID
//! ranges", experimental extensions 0x08000000-0x08FFFFFF) leaves for experiments. Calls follow the SBI's binary
//! encoding: extension in `a7`, function in `a6`, arguments from `a0`, `sbiret` in `a0`/`a1`.
//! Errors are the SBI's standard ones.

/// Extension id: "TCT" in the experimental range.
pub const EXTENSION: usize = 0x0854_4354;

/// `version() -> value`: the hypervisor's version, `major << 24 | minor << 12 | patch`.
pub const VERSION: usize = 0;
/// `channel_notify(channel)`: raises the doorbell interrupt at the other end of the caller's channel.
/// `INVALID_PARAM`: the caller has no such channel.
pub const CHANNEL_NOTIFY: usize = 1;
/// `vm_status(vm) -> value`: state of a VM, see [`VmState`]; bits 15:8 hold the `scause` code of its last
/// fault. Allowed for the caller itself and for VMs whose `on_fault` signals the caller.
/// `INVALID_PARAM`: no such VM; `DENIED`: not the caller's business.
pub const VM_STATUS: usize = 2;
/// `vm_restart(vm)`: reloads a stopped VM's image and starts it. The same rights and errors as [`VM_STATUS`], and
/// `ALREADY_AVAILABLE` when the VM is running.
pub const VM_RESTART: usize = 3;
/// `cpu_time() -> value`: time the calling VM's vCPUs have run, in ticks of the `time` CSR.
pub const CPU_TIME: usize = 4;

/// State of a VM in bits 7:0 of [`VM_STATUS`]'s value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VmState {
    /// Its image is being loaded.
    Loading = 0,
    /// At least one of its vCPUs is started.
    Running = 1,
    /// It powered itself off.
    Off = 2,
    /// It was stopped by a fault.
    Faulted = 3,
}
