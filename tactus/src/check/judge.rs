//! What the parts of the check share: the description and the problems found so far.

use crate::config::{At, Config, Share, Source, Span};
use crate::problem::{Code, Problem};

/// The description on trial.
pub(super) struct Judge<'c> {
    pub(super) config: &'c Config,
    problems: Vec<Problem>,
}

impl<'c> Judge<'c> {
    pub(super) const fn new(config: &'c Config, problems: Vec<Problem>) -> Self {
        Self { config, problems }
    }

    pub(super) fn source(&self) -> &'c Source {
        &self.config.source
    }

    /// Notes a problem at one place.
    pub(super) fn note(
        &mut self,
        code: Code,
        span: &Span,
        label: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let problem = Problem::new(code, message, help);
        self.add(problem.at(self.source(), span, label));
    }

    /// Notes a problem as it is.
    pub(super) fn add(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// The index of the VM of that name.
    pub(super) fn vm_named(&self, name: &str) -> Option<usize> {
        let is_it = |vm: &crate::config::Vm| vm.name.as_ref().is_some_and(|n| n.value == name);
        self.config.vms.iter().position(is_it)
    }

    /// The index of the VM that `what` refers to, which must be none of the VMs with the names in `not`; noted when
    /// there is none.
    pub(super) fn resolve_vm(
        &mut self,
        name: &At<String>,
        what: &str,
        not: &[&str],
    ) -> Option<usize> {
        let index = self.vm_named(&name.value);
        if index.is_none() {
            let names = self.config.vms.iter().filter_map(|vm| vm.name.as_ref());
            let known: Vec<&str> = names
                .map(|name| name.value.as_str())
                .filter(|name| !not.contains(name))
                .collect();
            self.note(
                Code::UnknownVm,
                &name.span,
                "no VM has this name",
                format!("{what}: there is no VM `{}`", name.value),
                crate::config::cure_of_unknown(&name.value, &known),
            );
        }
        index
    }

    /// Notes a value that is no positive multiple of `unit`; tells whether it is one. Values that are proposed instead
    /// are among those that `fits` accepts.
    pub(super) fn is_multiple(
        &mut self,
        value: u64,
        unit: u64,
        span: &Span,
        what: &str,
        show: impl Fn(u64) -> String,
        fits: impl Fn(u64) -> bool,
    ) -> bool {
        if value != 0 && value.is_multiple_of(unit) {
            return true;
        }
        let (label, message) = if value == 0 {
            ("zero", format!("{what} must not be 0"))
        } else {
            let message = format!("{what} must be a multiple of {}", show(unit));
            ("not a multiple", message)
        };
        let cure = nearest_multiples(value, unit, show, |value| value != 0 && fits(value));
        self.note(Code::Unaligned, span, label, message, cure);
        false
    }

    /// Notes a share that is more than everything.
    pub(super) fn is_part(&mut self, share: &At<Share>, what: &str) {
        if share.value > Share::WHOLE {
            self.note(
                Code::OutOfRange,
                &share.span,
                format!("0 % to {}", Share::WHOLE),
                format!("{what} is {} of the whole", share.value),
                format!("use at most {}", Share::WHOLE),
            );
        }
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}

/// Multiples of `unit` to use in place of a value: the nearest ones that fit.
pub(super) fn nearest_multiples(
    value: u64,
    unit: u64,
    show: impl Fn(u64) -> String,
    fits: impl Fn(u64) -> bool,
) -> String {
    let below = value / unit * unit;
    let above = below.checked_add(unit);
    let near: Vec<u64> = [Some(below), above]
        .into_iter()
        .flatten()
        .filter(|&value| fits(value))
        .collect();
    match near.as_slice() {
        [] if below > unit && fits(unit) => format!("use a smaller multiple of {}", show(unit)),
        [] => format!("use another multiple of {}", show(unit)),
        [only] if *only == unit => format!("use {} or a multiple of it", show(unit)),
        [only] => format!("use {}", show(*only)),
        [below, above, ..] => format!("use {} or {}", show(*below), show(*above)),
    }
}
