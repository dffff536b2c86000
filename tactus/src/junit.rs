//! Results as JUnit XML, which CI services show.

use std::path::Path;

use miette::{IntoDiagnostic, WrapErr};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// How a case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As it is to.
    Passed,
    /// Not so, and why.
    Failed(String),
    /// It could not be carried out, and why.
    Error(String),
    /// It was not carried out, and why.
    Skipped(String),
}

/// Something that passes or fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// How it ended.
    pub ended: Ended,
}

impl Case {
    /// A case called `name` that ended so.
    pub fn new(name: impl Into<String>, ended: Ended) -> Self {
        Self {
            name: name.into(),
            ended,
        }
    }
}

/// Cases that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    /// Its name, such as that of a VM.
    pub name: String,
    /// What it consists of.
    pub cases: Vec<Case>,
}

/// The text of the file. Nothing in it depends on the host: no times and no names of machines.
///
/// # Errors
/// It cannot be made.
pub fn text(name: &str, suites: &[Suite]) -> miette::Result<String> {
    let mut report = Report::new(name);
    for suite in suites {
        let mut made = TestSuite::new(suite.name.as_str());
        for case in &suite.cases {
            let status = |kind, reason: &str| {
                let mut status = TestCaseStatus::non_success(kind);
                status.set_message(reason);
                status
            };
            let status = match &case.ended {
                Ended::Passed => TestCaseStatus::success(),
                Ended::Failed(reason) => status(NonSuccessKind::Failure, reason),
                Ended::Error(reason) => status(NonSuccessKind::Error, reason),
                Ended::Skipped(reason) => {
                    let mut status = TestCaseStatus::skipped();
                    status.set_message(reason.as_str());
                    status
                }
            };
            let mut made_case = TestCase::new(case.name.as_str(), status);
            made_case.set_classname(format!("{name}.{}", suite.name));
            made.add_test_case(made_case);
        }
        report.add_test_suite(made);
    }
    report.to_string().into_diagnostic()
}

/// Writes the file.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, name: &str, suites: &[Suite]) -> miette::Result<()> {
    std::fs::write(path, text(name, suites)?)
        .into_diagnostic()
        .wrap_err_with(|| format!("the JUnit file {} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_its_suites_and_their_counts() {
        let suites = [
            Suite {
                name: "rt".to_owned(),
                cases: vec![
                    Case::new("period", Ended::Passed),
                    Case::new("end", Ended::Failed("a <fault> & more".to_owned())),
                ],
            },
            Suite {
                name: "run".to_owned(),
                cases: vec![
                    Case::new("end", Ended::Error("the time was up".to_owned())),
                    Case::new("script", Ended::Skipped("none".to_owned())),
                ],
            },
        ];
        let text = text("systems/x.toml", &suites).expect("it can be made");
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="systems/x.toml" tests="4" skipped="1" failures="1" errors="1">
    <testsuite name="rt" tests="2" skipped="0" errors="0" failures="1">
        <testcase name="period" classname="systems/x.toml.rt"/>
        <testcase name="end" classname="systems/x.toml.rt">
            <failure message="a &lt;fault&gt; &amp; more"/>
        </testcase>
    </testsuite>
    <testsuite name="run" tests="2" skipped="1" errors="1" failures="0">
        <testcase name="end" classname="systems/x.toml.run">
            <error message="the time was up"/>
        </testcase>
        <testcase name="script" classname="systems/x.toml.run">
            <skipped message="none"/>
        </testcase>
    </testsuite>
</testsuites>
"#;
        assert_eq!(text, expected);
    }
}
