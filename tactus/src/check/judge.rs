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

    /// The index of the VM that `what` refers to; noted when there is none.
    pub(super) fn resolve_vm(&mut self, name: &At<String>, what: &str) -> Option<usize> {
        let index = self.vm_named(&name.value);
        if index.is_none() {
            let names = self.config.vms.iter().filter_map(|vm| vm.name.as_ref());
            let known: Vec<&str> = names.map(|name| name.value.as_str()).collect();
            self.note(
                Code::UnknownVm,
                &name.span,
                "no VM has this name",
                format!("{what} names VM `{}`, which does not exist", name.value),
                crate::config::cure_of_unknown(&name.value, &known),
            );
        }
        index
    }

    /// Notes a value that is no positive multiple of `unit`; tells whether it is one.
    pub(super) fn is_multiple(
        &mut self,
        value: u64,
        unit: u64,
        span: &Span,
        what: &str,
        show: impl Fn(u64) -> String,
    ) -> bool {
        if value != 0 && value.is_multiple_of(unit) {
            return true;
        }
        let below = value / unit * unit;
        let above = below.saturating_add(unit);
        let cure = if below == 0 {
            format!("make it {} or a multiple of that", show(above))
        } else {
            format!("make it {} or {}", show(below), show(above))
        };
        self.note(
            Code::Unaligned,
            span,
            if value == 0 {
                "nothing"
            } else {
                "not a multiple"
            },
            format!("{what} must be a multiple of {} and not 0", show(unit)),
            cure,
        );
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
                format!("make it at most {}", Share::WHOLE),
            );
        }
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}
