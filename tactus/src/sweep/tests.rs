use std::num::NonZero;
use std::path::Path;

use proptest::prelude::*;

use super::description::{Base, Invalid, Stop, Sweep, Width};
use super::factor::shown;
use super::results;
use super::run::Row;
use super::work::tests::simulated;
use crate::columns::Values;
use crate::testing::{each_file, try_sweep};

const SYSTEM: &str = "\
[system]
platform = \"soc\"
harts = 1

[[vm]]
name = \"first\"
memory = \"4MiB\"

[[vm.vcpu]]
class = \"rt\"
priority = 1
";

fn parse(text: &str) -> Result<Sweep, Invalid> {
    let base = Base::parse("my.toml".to_owned(), SYSTEM.to_owned(), Path::new(""));
    let base = base.expect("it is TOML");
    Sweep::parse("sweep.toml", text.to_owned(), Path::new(""), Some(base))
}

fn sweep(text: &str) -> Sweep {
    parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn error(text: &str) -> String {
    parse(text).expect_err("it is not in order").to_string()
}

const TWO: &str = "\
[[factor]]
place = \"vm.first.memory\"
values = [\"4MiB\", \"8MiB\"]
[[factor]]
name = \"priority\"
place = \"vm.first.vcpu.0.priority\"
range = { from = 1, to = 5, step = 2 }
";

fn levels(sweep: &Sweep) -> Vec<Vec<usize>> {
    (0..sweep.points())
        .map(|point| sweep.levels(point))
        .collect()
}

#[test]
fn points_are_all_combinations_the_last_factor_first() {
    let sweep = sweep(TWO);
    assert_eq!(
        levels(&sweep),
        [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    );
    let varied = sweep.put(&[1, 2]).expect("it can be put there");
    let wanted = SYSTEM
        .replace("4MiB", "8MiB")
        .replace("priority = 1", "priority = 5");
    assert_eq!(varied.system, wanted);
}

#[test]
fn one_at_a_time_varies_each_factor_alone() {
    let sweep = sweep(&format!("design = \"one_at_a_time\"\n{TWO}"));
    assert_eq!(levels(&sweep), [[0, 0], [1, 0], [0, 1], [0, 2]]);
}

#[test]
fn without_factors_there_is_one_point() {
    let sweep = sweep("replicates = 3");
    assert_eq!(levels(&sweep), [[0_usize; 0]]);
}

#[test]
fn ranges_have_both_ends() {
    let values = |range: &str, rest: &str| -> Vec<String> {
        let factor = format!("[[factor]]\nplace = \"vm.first.memory\"\nrange = {range}\n{rest}");
        let sweep = sweep(&factor);
        let levels = sweep.factors[0].levels.iter();
        levels
            .map(|level| format!("{} {}", shown(&level.shown), shown(&level.put)))
            .collect()
    };
    let format = "format = \"{}MiB\"";
    assert_eq!(
        values("{ from = 2, to = 4 }", format),
        ["2 2MiB", "3 3MiB", "4 4MiB"]
    );
    assert_eq!(
        values("{ from = 1, to = 9, times = 3 }", ""),
        ["1 1", "3 3", "9 9"]
    );
    let tenths = values("{ from = 0.0, to = 0.3, step = 0.1 }", "");
    assert_eq!(tenths, ["0.0 0.0", "0.1 0.1", "0.2 0.2", "0.3 0.3"]);
}

#[test]
fn places_may_be_several_and_in_the_profile() {
    let sweep = sweep(
        "[[factor]]\nname = \"same\"\nplace = [\"vm.first.memory\", \"vm.0.rt_memory\"]\nvalues = [\"8MiB\"]\n\
         [[factor]]\nplace = \"harts.max\"\nin = \"profile\"\nvalues = [8]",
    );
    let varied = sweep.put(&[0, 0]).expect("it can be put there");
    assert!(
        varied
            .system
            .contains("memory = \"8MiB\"\nrt_memory = \"8MiB\"\n"),
        "{}",
        varied.system
    );
    assert_eq!(varied.profile.name, "soc");
    assert!(varied.profile.is_changed && varied.profile.text.contains("\nmax = 8\n"));
}

#[test]
fn seeds_are_common_or_none_twice() {
    let seeds = |pairing: &str| {
        let sweep = sweep(&format!(
            "seed = 7\nreplicates = 2\npairing = \"{pairing}\"\n{TWO}"
        ));
        let seed = |point, replicate| sweep.seed(sweep.settings.seed, point, replicate);
        [seed(0, 0), seed(0, 1), seed(1, 0), seed(1, 1)]
    };
    assert_eq!(seeds("common"), [7, 8, 7, 8]);
    assert_eq!(seeds("independent"), [7, 8, 9, 10]);
}

#[test]
fn a_stop_rule_names_its_measure() {
    let text = "replicates = 9\n[[measure]]\nname = \"m\"\nunit = \"us\"\nrecord = { vm = \"first\" }\n\
                [stop]\nmeasure = \"m\"\nrelative = 0.05\n";
    let rule = Stop {
        measure: 0,
        width: Width::Relative(0.05),
        confidence: 0.95,
        at_least: 3,
    };
    assert_eq!(sweep(text).stop, Some(rule));
}

/// What is wrong is told with its line.
#[test]
fn what_is_not_in_order_is_named() {
    let factor = |rest: &str| error(&format!("[[factor]]\n{rest}"));
    for (message, wanted) in [
        (error("sed = 1"), "line 1: unknown field `sed`"),
        (
            error("seed = -1"),
            "line 1: `seed` is a whole number that is not negative, not `-1`",
        ),
        (
            error("limit = 5"),
            "`limit` is a time such as \"250ms\", 18000s at most, not `5`",
        ),
        (
            error("pace = \"timed\"\ntimed_from = \"phase:a\""),
            "line 2: `pace = \"timed\"` is from reset on",
        ),
        (error("replicates = 0"), "`replicates` is at least 1"),
        (factor(""), "a factor has either a `place` or an `option`"),
        (factor("place = \"a..b\""), "line 2: that is no place"),
        (
            factor("place = \"vm.a.memory\"\nvalues = [1]"),
            "line 1: factor `vm.a.memory`: the description has no vm.a.memory",
        ),
        (factor("option = \"sed\""), "a run has no option `sed`"),
        (
            factor("option = \"pace\"\nvalues = [\"fats\"]"),
            "`pace` is \"fast\" or \"timed\", not `fats`",
        ),
        (
            factor("option = \"pace\"\nin = \"profile\""),
            "`in` is for a `place`",
        ),
        (factor("place = \"a\"\nin = \"board\""), "not in `board`"),
        (
            factor("place = \"system.harts\""),
            "either `values` or a `range`",
        ),
        (
            factor("place = \"system.harts\"\nvalues = []"),
            "at least one level",
        ),
        (
            factor("place = \"system.harts\"\nvalues = [1, 2, 1]"),
            "the level 1 is there twice",
        ),
        (
            factor("place = \"system.harts\"\nvalues = [1]\nformat = \"x\""),
            "`format` has no `{}`",
        ),
        (
            factor("place = \"system.harts\"\nrange = { from = 2, to = 1 }"),
            "never comes from",
        ),
        (
            factor("place = \"system.harts\"\nrange = { from = 0, to = 9, times = 2 }"),
            "never comes from",
        ),
        (
            factor("place = \"system.harts\"\nrange = { from = \"1ms\", to = 9 }"),
            "a range is of numbers",
        ),
        (
            factor("place = \"system.harts\"\nrange = { from = 0, to = 999999 }"),
            "100000 levels at most",
        ),
        (
            factor("name = \"verdict\"\nplace = \"system.harts\"\nvalues = [1]"),
            "a column that all results have",
        ),
        (
            error(&format!("{TWO}{TWO}")),
            "line 8: two columns would be called `vm.first.memory`",
        ),
        (
            error(&format!("replicates = 1000000\n{TWO}")),
            "1000000 runs at most",
        ),
        (
            error("replicates = 2\n[[factor]]\noption = \"seed\"\nvalues = [1]"),
            "a factor varies the seed",
        ),
        (
            error("[[measure]]\nname = \"m\""),
            "needs one of `record`, `samples`, `report` and `check`",
        ),
        (
            error("[[measure]]\nname = \"m\"\nrecord = { vm = \"first\" }"),
            "measure `m` has no `unit`",
        ),
        (
            error("[[measure]]\nname = \"m\"\nunit = \"parsec\"\nrecord = { vm = \"a\" }"),
            "`parsec` is not a unit",
        ),
        (
            error("[[measure]]\nname = \"m\"\nunit = \"us\"\nreport = \"vms\""),
            "`unit` is for records and samples",
        ),
        (
            error("run = false\n[[measure]]\nname = \"m\"\nreport = \"vms\""),
            "measure `m` is of a run",
        ),
        (
            error("[stop]\nmeasure = \"m\"\nhalf_width = 1.0"),
            "there is no measure `m`",
        ),
    ] {
        assert!(message.contains(wanted), "{message}\nis not: {wanted}");
    }
    let stop = |rule: &str| {
        let measure = "[[measure]]\nname = \"m\"\nreport = \"vms\"\n[stop]\nmeasure = \"m\"\n";
        error(&format!("{measure}{rule}"))
    };
    for (message, wanted) in [
        (stop(""), "either a `half_width` or a `relative` one"),
        (stop("half_width = -1.0"), "not negative"),
        (
            stop("half_width = 1.0\nconfidence = 95.0"),
            "from 0.5 to below 1",
        ),
        (stop("half_width = 1.0\nat_least = 1"), "two runs at least"),
        (
            stop("half_width = 1.0"),
            "decides after 3 runs of a point, and it has 1",
        ),
    ] {
        assert!(message.contains(wanted), "{message}\nis not: {wanted}");
    }
}

/// A sweep of three points, of which the last is refused, whose measure depends on point and seed.
fn three(stop: &str) -> Sweep {
    sweep(&format!(
        "replicates = 20\n[[factor]]\nname = \"harts\"\nplace = \"system.harts\"\nvalues = [1, 2, 3]\n\
         [[measure]]\nname = \"m\"\nreport = \"vms\"\n{stop}"
    ))
}

const STOP: &str = "[stop]\nmeasure = \"m\"\nhalf_width = 1.5\n";

#[test]
fn a_point_has_as_many_runs_as_it_needs() {
    let runs = |stop: &str| {
        let sweep = three(stop);
        let rows = simulated(&sweep, NonZero::<usize>::MIN, 1);
        [0, 1, 2].map(|point| rows.iter().filter(|row| row.point == point).count())
    };
    assert_eq!(runs(""), [20, 20, 1], "what is refused is refused once");
    let [narrow, wide, refused] = runs(STOP);
    assert!((3..20).contains(&narrow), "{narrow}");
    assert_eq!([wide, refused], [20, 1]);
}

#[test]
fn results_are_columns_and_a_table() {
    let sweep = three("");
    let rows = simulated(&sweep, NonZero::<usize>::MIN, 1);
    let columns = results::columns(&sweep, &rows);
    let names: Vec<&str> = columns.iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "point",
            "replicate",
            "harts",
            "profile",
            "seed",
            "verdict",
            "message",
            "virtual_seconds",
            "m",
            "configuration_hash",
            "image_hash",
            "trace_hash",
        ]
    );
    assert_eq!(columns.rows(), 41);
    let Some(Values::Integers(harts)) = columns.get("harts") else {
        panic!("harts are whole numbers");
    };
    assert_eq!(
        [harts[0], harts[20], harts[40]],
        [Some(1), Some(2), Some(3)]
    );
    let text = results::summary(&sweep, &rows);
    assert!(
        text.starts_with("my.toml: 3 points, 41 runs, 1 of them not good\n"),
        "{text}"
    );
    assert!(text.contains("refused\n"), "{text}");
    assert_eq!(
        results::remarks(&sweep, &rows),
        ["point 2 (harts = 3), seed 1: refused: no room"]
    );
}

#[test]
fn the_corpus_is_in_order_or_refused() {
    each_file("fuzz/corpus/sweep", |bytes| {
        try_sweep(&String::from_utf8_lossy(bytes));
    });
}

proptest! {
    /// Whatever the number of threads, and whichever run ends first: the same rows in the same order.
    #[test]
    fn rows_do_not_depend_on_who_is_first(workers in 1_usize..9, order in 1_u64..1000, stops in any::<bool>()) {
        let sweep = three(if stops { STOP } else { "" });
        let one = simulated(&sweep, NonZero::<usize>::MIN, 1);
        let workers = NonZero::new(workers).expect("it is not zero");
        let many: Vec<Row> = simulated(&sweep, workers, order);
        prop_assert_eq!(one, many);
    }

    #[test]
    fn no_text_makes_it_panic(text in "([a-z]{1,9} = [0-9\"\\[\\]{}a-z.,= ]{0,20}\n|\\[\\[(factor|measure)\\]\\]\n){0,8}") {
        try_sweep(&text);
    }

    /// Near what is in order.
    #[test]
    fn no_factor_makes_it_panic(
        place in "[a-z0-9.\"]{0,16}",
        from in any::<i64>(),
        to in any::<f64>(),
        step in prop_oneof![Just(1.0), any::<f64>()],
        format in "[{}m]{0,4}",
        design in prop::sample::select(vec!["full", "one_at_a_time"]),
    ) {
        let range = format!("range = {{ from = {from}, to = {to:?}, step = {step:?} }}");
        let factor = format!("[[factor]]\nplace = '{place}'\n{range}\nformat = '{format}'\n");
        try_sweep(&format!("design = '{design}'\n{factor}"));
        try_sweep(&format!("{factor}[[factor]]\noption = 'seed'\nrange = {{ from = {from}, to = {from} }}\n"));
    }
}
