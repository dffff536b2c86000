//! Records: lines of text by which guests and the hypervisor report measurements and events to the `tactus` tool.
//!
//! A guest writes a line that begins with [`PREFIX`] to its console, followed by a kind and `key=value` fields
//! separated by single spaces (the "logfmt" style; values contain no spaces). The tool moves such lines from the
//! console to its report. Every line of the hypervisor's log has that form, without the prefix.
//!
//! Kinds that guests write:
//!
//! * `metric name=N value=V unit=U` - one figure; a later one of the same name replaces it;
//! * `samples name=N phase=P unit=U values=V,V,...` - raw samples, appended to those of the same name
//!   and phase;
//! * `pulses pins=MASK start=S length=L period=P until=U` - pulses requested of timed output, in cycles of the fabric:
//!   the pins rise together at S and fall L later, and again every P; pulses that begin after U may be missing;
//! * `phase name=P` - a marker in time;
//! * `pass name=N`, `fail name=N reason=R` - the verdict of a self-checking guest.
//!
//! Kinds that the hypervisor writes (`time` in ticks of the `time` CSR everywhere):
//!
//! * `boot version=V harts=N vms=N time=T`;
//! * `start vm=NAME time=T` - the VM's first instruction is about to run;
//! * `fault vm=NAME vcpu=N cause=C why=W address=A pc=P instruction=I action=halt|restart|signal time=T` - `cause` is
//!   the exception's code as in `scause`, a number; `why` is the hypervisor's reason in one word (optional); `I` is the
//!   instruction's bits where known, always for an illegal instruction. `why=no-trap-handler`: the guest's own
//!   exception, before it has set `stvec`;
//! * `restart vm=NAME count=N time=T`;
//! * `jobs vm=NAME vcpu=N record=N,N,... time=T` - how a real-time vCPU's jobs have gone: the figures of
//!   [`JobRecord`](crate::hypercall::JobRecord), in its order. Written before its VM goes off, and when a job was
//!   throttled or late, or a release skipped: then once each time there have been twice as many jobs, and not before
//!   the hart has no real-time work;
//! * `off vm=NAME reason=shutdown|fail|fault|refused code=N time=T`;
//! * `usage vm=NAME hart=N ticks=T` - execution time of the VM so far, when it goes off and at the end (a vCPU with a
//!   hart of its own is charged for it while it waits, too), and `usage idle hart=N ticks=T` at the end;
//! * `usage migration vm=NAME vcpu=N kernel_entries=N` - when the VM goes off: how often the vCPU has left a hart for
//!   user level only because it entered its kernel; without a line, never;
//! * `lost stream=N bytes=N` - log lines that did not fit their buffer;
//! * `end time=T` - all VMs are off; the machine follows;
//! * `refused reason=...` - the system does not boot; the reason is the rest of the line, spaces included;
//! * `panic reason=...` - a defect in the hypervisor; the rest of the line as well.

/// Begins a guest's record line.
pub const PREFIX: &str = "@tactus ";
