//! The page and its data: the same each time, no HTML but its own, and no campaign of another system.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{DATA, PAGE, write};
use crate::artifacts::Artifacts;
use crate::check::tests::files;
use crate::check::{Verdict, check_file};
use crate::report::page::escaped;

const SYSTEM: &str = r#"# <script>window.broken=1</script> & "quoted"
[system]
platform = "mpsoc"
harts = 2

[[vm]]
name = "control"
image = "guest.elf"
memory = "4MiB"
bootargs = "</pre><img src=x onerror=window.broken=2>\u202e"

[[vm.vcpu]]
class = "rt"
hart = 0
period = "1ms"
budget = "200us"
deadline = "500us"

[[vm]]
name = "linux"
image = "guest.elf"
initrd = "ramdisk"
memory = "16MiB"

[[vm.vcpu]]
class = "be"
"#;

/// A system in a directory, with its files.
struct System {
    directory: TempDir,
    name: &'static str,
}

impl System {
    fn new(name: &'static str, text: &str) -> Self {
        let directory = files();
        fs::write(directory.path().join(name), text).expect("a description");
        Self { directory, name }
    }

    fn verdict(&self) -> Verdict {
        let artifacts = Artifacts::Directory(self.directory.path().into());
        let mut verdict = check_file(&self.directory.path().join(self.name), &artifacts);
        verdict.file = self.name.into();
        verdict
    }

    fn write(&self, to: &str, campaign: Option<&str>) -> miette::Result<[String; 2]> {
        let root = self.directory.path();
        let file = campaign.map(|text| {
            let file = root.join("campaign.json");
            fs::write(&file, text).expect("a campaign");
            file
        });
        write(
            &self.verdict(),
            &root.join(self.name),
            &root.join(to),
            file.as_deref(),
            None,
        )?;
        Ok([PAGE, DATA].map(|name| text(&root.join(to).join(name))))
    }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("it was written")
}

/// A campaign as `tactus attack --json` writes it, with that system.
fn campaign(data: &Value) -> Value {
    let bound = &data["guarantee"]["harts"][0]["vcpus"][0]["response_us"];
    let vcpu = json!({
        "vcpu": "control.0", "jobs": 50, "response_max_us": 200.5, "released_us": 1.0, "bound_us": bound,
        "deadline_us": 500.0, "late": 0, "cut_off": 0, "gap_max_us": 900.0,
    });
    let run = |attacker: Option<&str>, attack: Option<&str>| json!({ "attacker": attacker, "attack": attack, "vcpus": [vcpu], "findings": [], "again": "tactus attack" });
    json!({
        "system": "elsewhere.toml",
        "inputs": data["inputs"],
        "profile": "mpsoc",
        "seed": 1,
        "ms": 50,
        "runs": [run(None, None), run(Some("linux"), Some("<b>flood"))],
        "findings": 0,
    })
}

#[test]
fn it_is_the_same_each_time_and_has_everything() {
    let system = System::new("system.toml", SYSTEM);
    let first = system.write("a", None).expect("evidence");
    assert_eq!(first, system.write("b", None).expect("evidence"));
    let [page, data] = first;
    let data: Value = serde_json::from_str(&data).expect("JSON");
    assert_eq!(data["system"], "system.toml");
    assert_eq!(data["date"], Value::Null);
    for what in [
        "configuration",
        "profile",
        "hypervisor",
        "image of VM `control`",
        "initrd of VM `linux`",
        "boot image",
    ] {
        let inputs = data["inputs"].as_array().expect("inputs");
        let input = inputs.iter().find(|input| input["what"] == what);
        let hash = input.expect(what)["sha256"].as_str().expect("a hash");
        assert_eq!(hash.len(), 64);
        assert!(page.contains(hash), "{what}");
    }
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    for assumption in data["assumptions"].as_array().expect("assumptions") {
        assert!(page.contains(&escaped(&text(assumption))));
    }
    for figure in data["figures"].as_array().expect("figures") {
        for key in ["figure", "formula", "source", "book"] {
            assert!(page.contains(&escaped(&text(&figure[key]))), "{figure}");
        }
    }
    assert_eq!(data["overheads"].as_array().map(Vec::len), Some(6));
    assert_eq!(data["computed"], Value::Null);
    assert!(page.contains("Nothing: the board mpsoc has no caches."));
    assert!(data["sensitivity"]["budgets_factor_max"].as_f64() > Some(1.0));
    // What is not known is said not to be.
    let unknown = data["overheads"].as_array().expect("overheads");
    let unknown = unknown
        .iter()
        .filter(|one| one["measured_cycles"].is_null());
    assert_eq!(
        page.matches("<td>not recorded in the profile</td><td>not known</td>")
            .count(),
        unknown.count()
    );
    assert!(!page.contains(&system.directory.path().display().to_string()));
}

#[test]
fn no_text_of_the_description_is_html() {
    let system = System::new("<script>x.toml", SYSTEM);
    let json: Value =
        serde_json::from_str(&system.write("a", None).expect("evidence")[1]).expect("JSON");
    let campaign = campaign(&json).to_string();
    let [page, _] = system.write("a", Some(&campaign)).expect("evidence");
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("<b>"));
    assert!(page.contains("&lt;script&gt;window.broken=1&lt;/script&gt; &amp; &quot;quoted&quot;"));
    assert!(page.contains("&lt;b&gt;flood"));
    assert_eq!(page.matches("</pre>").count(), page.matches("<pre").count());
    assert_eq!(escaped("a\u{202e}b\u{7}'"), "a[U+202E]b[U+0007]&#39;");
}

#[test]
fn a_campaign_of_another_system_is_refused() {
    let system = System::new("system.toml", SYSTEM);
    let [_, data] = system.write("a", None).expect("evidence");
    let data: Value = serde_json::from_str(&data).expect("JSON");
    let good = campaign(&data);
    let [page, with] = system
        .write("a", Some(&good.to_string()))
        .expect("the same system");
    assert!(page.contains("Attacked: 1 attack, every job within its bound."));
    let with: Value = serde_json::from_str(&with).expect("JSON");
    assert_eq!(with["campaign"]["runs"], {
        let mut runs = good["runs"].clone();
        for run in runs.as_array_mut().expect("runs") {
            run.as_object_mut().expect("a run").remove("again");
            for vcpu in run["vcpus"].as_array_mut().expect("vCPUs") {
                for key in ["released_us", "deadline_us", "cut_off", "gap_max_us"] {
                    vcpu.as_object_mut().expect("a vCPU").remove(key);
                }
            }
        }
        runs
    });
    let refused = |text: &str| {
        let report = system.write("c", Some(text)).expect_err("a refusal");
        assert!(!system.directory.path().join("c").exists());
        report.to_string()
    };
    assert!(refused("no").contains("it is no JSON"));
    assert!(refused("{\"systems\": []}").contains("random systems"));
    assert!(refused("{\"runs\": []}").contains("does not say which system"));
    let mut changed = good.clone();
    changed["inputs"][2]["sha256"] = "0".repeat(64).into();
    assert!(refused(&changed.to_string()).contains("not the same hypervisor;"));
    // On another board image and profile are others by themselves.
    changed = good.clone();
    changed["profile"] = "soc".into();
    for input in [1, 6] {
        changed["inputs"][input]["sha256"] = "1".repeat(64).into();
    }
    let [page, _] = system
        .write("a", Some(&changed.to_string()))
        .expect("the same system");
    assert!(page.contains("its bounds there were not measured"));
    changed = good.clone();
    changed["runs"][1]["vcpus"][0]["bound_us"] = 1.0.into();
    assert!(refused(&changed.to_string()).contains("by a bound of 1.0 us"));
    changed = good.clone();
    changed["findings"] = 1.into();
    assert!(refused(&changed.to_string()).contains("it counts 1 findings and has 0"));
    changed = good.clone();
    changed["runs"] = json!([]);
    assert!(refused(&changed.to_string()).contains("it has no runs"));
    changed = good;
    changed["seed"] = "x".into();
    assert!(refused(&changed.to_string()).contains("it is no campaign"));
}

#[test]
fn of_a_refused_system_there_is_none() {
    let system = System::new("system.toml", &SYSTEM.replace("200us", "490us"));
    let refused = system.write("a", None).expect_err("a refusal");
    assert!(refused.to_string().contains("is refused"), "{refused}");
    assert!(!system.directory.path().join("a").exists());
}
