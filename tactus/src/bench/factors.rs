//! Factors: what an experiment says once, for all levels of what its runs differ in.
//!
//! ```toml
//! [[factor]]
//! name = "load"
//! levels = [{ name = "idle" }, { name = "files", paper = 96 }]
//!
//! [[run]]
//! each = ["load"]
//! name = "{load}_shared"
//! ```
//!
//! A table in a list that says `each` stands for as many as there are combinations of these factors' levels, the last
//! factor's going fastest. In its strings `{load}` is the level's name, and `{load.paper}` what the level says by that
//! key. A string that is nothing but the latter is replaced by the value itself, and left out, with its key, at levels
//! that do not say it.

use std::mem;

use miette::{IntoDiagnostic, WrapErr, miette};
use serde::Deserialize;
use toml::{Table, Value};

/// Tables that one may stand for.
const MOST: usize = 1000;

/// What runs differ in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Factor {
    name: String,
    levels: Vec<Level>,
}

#[derive(Deserialize)]
struct Level {
    name: String,
    #[serde(flatten)]
    says: Table,
}

/// An experiment with all that its factors stand for, and without the factors.
///
/// # Errors
/// A factor is not in order, or something names one, or a key of its levels, that is not there.
pub fn expand(mut experiment: Table) -> miette::Result<Table> {
    let factors: Vec<Factor> = match experiment.remove("factor") {
        None => Vec::new(),
        Some(factors) => factors
            .try_into()
            .into_diagnostic()
            .wrap_err("`factor` is not in order")?,
    };
    for (_, value) in &mut experiment {
        lists(value, &factors)?;
    }
    Ok(experiment)
}

/// Puts into all lists what their tables stand for.
fn lists(value: &mut Value, factors: &[Factor]) -> miette::Result<()> {
    match value {
        Value::Array(list) => {
            for one in mem::take(list) {
                list.extend(stands_for(one, factors)?);
            }
            list.iter_mut().try_for_each(|one| lists(one, factors))
        }
        Value::Table(table) => table
            .iter_mut()
            .try_for_each(|(_, one)| lists(one, factors)),
        _ => Ok(()),
    }
}

/// What an element of a list stands for.
fn stands_for(element: Value, factors: &[Factor]) -> miette::Result<Vec<Value>> {
    let Value::Table(mut table) = element else {
        return Ok(vec![element]);
    };
    let Some(each) = table.remove("each") else {
        return Ok(vec![Value::Table(table)]);
    };
    let each: Vec<String> = each
        .try_into()
        .into_diagnostic()
        .wrap_err("`each` is a list of factors' names")?;
    let mut tables = vec![table];
    for name in each {
        let factor = factors.iter().find(|factor| factor.name == name);
        let factor = factor.ok_or_else(|| miette!("`each` names `{name}`, which is no factor"))?;
        if tables.len() * factor.levels.len() > MOST {
            return Err(miette!("with `{name}` there are more than {MOST}"));
        }
        let levels = |table: &Table| -> miette::Result<Vec<Table>> {
            let at = |level| table_at(table.clone(), &name, level);
            factor.levels.iter().map(at).collect()
        };
        let all: miette::Result<Vec<_>> = tables.iter().map(levels).collect();
        tables = all?.into_iter().flatten().collect();
    }
    Ok(tables.into_iter().map(Value::Table).collect())
}

/// A table at a level of a factor.
fn table_at(table: Table, factor: &str, level: &Level) -> miette::Result<Table> {
    let mut at = Table::new();
    for (key, value) in table {
        if let Some(value) = value_at(value, factor, level)? {
            at.insert(key, value);
        }
    }
    Ok(at)
}

/// A value at a level; `None`: it is left out.
fn value_at(value: Value, factor: &str, level: &Level) -> miette::Result<Option<Value>> {
    Ok(Some(match value {
        Value::String(text) => {
            let inner = text
                .strip_prefix('{')
                .and_then(|text| text.strip_suffix('}'))
                .and_then(|text| text.strip_prefix(factor)?.strip_prefix('.'))
                .filter(|key| !key.contains(['{', '}']));
            if let Some(key) = inner {
                return Ok(level.says.get(key).cloned());
            }
            Value::String(text_at(&text, factor, level)?)
        }
        Value::Array(list) => {
            let at = list.into_iter().map(|one| value_at(one, factor, level));
            let list: miette::Result<Vec<_>> = at.collect();
            Value::Array(list?.into_iter().flatten().collect())
        }
        Value::Table(table) => Value::Table(table_at(table, factor, level)?),
        other => other,
    }))
}

/// Text at a level.
fn text_at(text: &str, factor: &str, level: &Level) -> miette::Result<String> {
    let text = text.replace(&format!("{{{factor}}}"), &level.name);
    let begin = format!("{{{factor}.");
    let mut parts = text.split(begin.as_str());
    let mut at = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (key, rest) = part
            .split_once('}')
            .ok_or_else(|| miette!("`{text}` lacks a closing brace"))?;
        match level.says.get(key) {
            Some(Value::String(said)) => at.push_str(said),
            _ => {
                return Err(miette!(
                    "level `{}` of `{factor}` has no text `{key}`, as in `{text}`",
                    level.name
                ));
            }
        }
        at.push_str(rest);
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FACTORS: &str = r#"
        [[factor]]
        name = "load"
        levels = [{ name = "idle" }, { name = "files", words = "which writes" }]
        [[factor]]
        name = "with"
        levels = [{ name = "none", paper_files = 96 }, { name = "both", words = "both" }]
    "#;

    fn expanded(text: &str) -> miette::Result<Table> {
        expand(format!("{text}\n{FACTORS}").parse().expect("it is TOML"))
    }

    #[test]
    fn a_table_stands_for_all_combinations() {
        let table = expanded(
            r#"
            [[run]]
            name = "alone"
            [[run]]
            each = ["load", "with"]
            name = "{load}_{with}"
            paper = "{with.paper_{load}}"
            list = ["{load}", 1]
            [run.replace]
            "work=idle" = "work={load}, {other}"
            [[histogram]]
            each = ["load"]
            [[histogram.of]]
            each = ["with"]
            run = "{load}_{with}"
            "#,
        )
        .expect("it is in order");
        assert!(!table.contains_key("factor"));
        let runs = table["run"].as_array().expect("a list");
        let names: Vec<_> = runs.iter().map(|run| run["name"].as_str()).collect();
        let wanted = [
            "alone",
            "idle_none",
            "idle_both",
            "files_none",
            "files_both",
        ];
        assert_eq!(names, wanted.map(Some));
        let papers: Vec<_> = runs.iter().map(|run| run.get("paper")).collect();
        let paper = Value::Integer(96);
        assert_eq!(papers, [None, None, None, Some(&paper), None]);
        assert_eq!(runs[3]["list"][0].as_str(), Some("files"));
        let replace = runs[3]["replace"]["work=idle"].as_str();
        assert_eq!(replace, Some("work=files, {other}"));
        let of = table["histogram"][1]["of"].as_array().expect("a list");
        let of: Vec<_> = of.iter().map(|of| of["run"].as_str()).collect();
        assert_eq!(of, ["files_none", "files_both"].map(Some));
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = |text: &str| expanded(text).expect_err("it is not in order").to_string();
        assert_eq!(
            error("[[run]]\neach = [\"laod\"]"),
            "`each` names `laod`, which is no factor"
        );
        assert_eq!(
            error("[[run]]\neach = [\"load\"]\nname = \"Linux {load.words}\""),
            "level `idle` of `load` has no text `words`, as in `Linux {load.words}`"
        );
        assert_eq!(
            error("[[run]]\neach = [\"with\"]\nname = \"a{with.words\""),
            "`a{with.words` lacks a closing brace"
        );
        assert!(error("[[run]]\neach = 1").contains("list of factors' names"));
        let many = ["\"load\""; 10].join(", ");
        assert!(error(&format!("[[run]]\neach = [{many}]")).contains("more than 1000"));
        let wrong = "factor = 1".parse().expect("it is TOML");
        assert!(expand(wrong).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(name in "[{}a-z.]{0,20}", each in prop::sample::select(vec!["load", "with", "none"])) {
            let _ = expanded(&format!("[[run]]\neach = [\"{each}\"]\nname = \"{name}\""));
        }
    }
}
