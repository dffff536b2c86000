//! `tactus new guest`: a small guest that builds and runs as generated.

use std::path::{Path, PathBuf};

use miette::miette;
use tactus_abi::blob::limit;

use super::{map, runtime};

/// The language of the guest.
pub(super) enum Language {
    /// C, with a small library in the folder.
    C,
    /// Rust, on the guest runtime in this directory, or on a copy of it.
    Rust(Option<PathBuf>),
}

/// The project to create.
pub(super) struct Starter {
    name: String,
    folder: PathBuf,
    language: Language,
}

/// VMs of the generated system beside the guest's own.
const OTHERS: [&str; 2] = ["peer", "neighbour"];

/// Names that Cargo or rustc refuses or warns about for a package or a program: Cargo's directories, the compiler's
/// crates, and keywords (Rust reference, "Keywords").
const NOT_FOR_CARGO: &str = "build deps examples incremental alloc core proc_macro proc-macro std test \
    abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if impl in let loop macro \
    match mod move mut override priv pub ref return self static struct super trait true try type typeof union unsafe unsized use virtual \
    where while yield";

/// A file of the folder: its name, and its text with `@NAME@` and the like.
type Template = (&'static str, &'static str);

const C: &[Template] = &[
    ("README.md", include_str!("c/README.md")),
    (".gitignore", include_str!("c/gitignore")),
    ("Makefile", include_str!("c/Makefile")),
    ("system.toml", include_str!("system.toml")),
    ("link.ld", include_str!("c/link.ld")),
    ("crt0.S", include_str!("c/crt0.S")),
    ("main.c", include_str!("c/main.c")),
    ("guest/guest.h", include_str!("c/guest/guest.h")),
    ("guest/guest.c", include_str!("c/guest/guest.c")),
];

/// Tactus's own files for C, as they are.
const OF_TACTUS: &[Template] = &[
    (
        "guest/tactus.h",
        include_str!("../../../abi/include/tactus.h"),
    ),
    (
        "guest/tactus_channel.h",
        include_str!("../../../guests/channel/c/tactus_channel.h"),
    ),
    (
        "guest/tactus_channel.c",
        include_str!("../../../guests/channel/c/tactus_channel.c"),
    ),
    (
        "guest/tactus_message.h",
        include_str!("../../../guests/channel/c/tactus_message.h"),
    ),
];

const RUST: &[Template] = &[
    ("README.md", include_str!("rust/README.md")),
    (".gitignore", include_str!("rust/gitignore")),
    ("Makefile", include_str!("rust/Makefile")),
    ("system.toml", include_str!("system.toml")),
    ("Cargo.toml", include_str!("rust/manifest.toml")),
    (".cargo/config.toml", include_str!("rust/config.toml")),
    ("build.rs", include_str!("rust/build.rs")),
    ("src/main.rs", include_str!("rust/src/main.rs")),
    (
        "rust-toolchain.toml",
        include_str!("../../../rust-toolchain.toml"),
    ),
];

impl Starter {
    /// A guest called like the folder.
    pub(super) fn new(folder: &Path, language: Language) -> miette::Result<Self> {
        let last = folder.file_name().and_then(|name| name.to_str());
        let name = last.filter(|_| !folder.as_os_str().is_empty());
        let Some(name) = name else {
            return Err(miette!(
                help = "end the path with the guest's name, for example `blink`",
                "`{}` does not end with a folder's name",
                folder.display()
            ));
        };
        check_name(name, &language)?;
        if folder.symlink_metadata().is_ok() {
            return Err(miette!(
                help = "choose another name, or remove it first; nothing was changed",
                "`{}` exists already",
                folder.display()
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            folder: folder.to_owned(),
            language,
        })
    }

    /// All files, each with its text.
    pub(super) fn files(&self) -> miette::Result<Vec<(String, String)>> {
        let (templates, verbatim) = match self.language {
            Language::C => (C, OF_TACTUS),
            Language::Rust(_) => (RUST, &[][..]),
        };
        let mut files: Vec<(String, String)> = Vec::new();
        for (name, text) in templates {
            files.push(((*name).to_owned(), self.filled(text)));
        }
        for (name, text) in verbatim {
            files.push(((*name).to_owned(), (*text).to_owned()));
        }
        match &self.language {
            Language::C => files.push(("guest/tactus_map.h".to_owned(), map::header())),
            Language::Rust(elsewhere) => {
                files.push(("Cargo.lock".to_owned(), runtime::lock(&self.name)?));
                if elsewhere.is_none() {
                    files.extend(runtime::copy()?);
                }
            }
        }
        Ok(files)
    }

    fn filled(&self, template: &str) -> String {
        let (runtime, table, update) = match &self.language {
            Language::Rust(Some(path)) => (
                format!("tactus-guest = {{ path = {:?} }}", path.display().to_string()),
                String::new(),
                format!("It is used where it is, in `{}`.", path.display()),
            ),
            _ => (
                "tactus-guest = { path = \"tactus/guests/runtime\" }".to_owned(),
                "| `tactus/` | Tactus's guest runtime and what it needs, as of version @VERSION@ |\n".to_owned(),
                "`tactus/` is a copy: `tactus new guest` of a newer version writes a newer one into a new folder; take it \
                 from there."
                    .to_owned(),
            ),
        };
        template
            .replace("@TABLE@\n", &format!("{table}\n"))
            .replace("@UPDATE@", &update)
            .replace("@SYSROOT@\n", &sysroot())
            .replace("@RUNTIME@", &runtime)
            .replace("@IMAGE@", &self.image())
            .replace("@TACTUS@", &in_makefile(&this_program()))
            .replace("@VERSION@", env!("CARGO_PKG_VERSION"))
            .replace("@NAME@", &self.name)
    }

    /// Where the build puts the image, from the folder.
    fn image(&self) -> String {
        match self.language {
            Language::C => format!("build/{}.elf", self.name),
            Language::Rust(_) => {
                format!("target/riscv64gc-unknown-none-elf/release/{}", self.name)
            }
        }
    }

    /// The summary and the next commands.
    pub(super) fn next(&self, files: usize) -> String {
        let language = match self.language {
            Language::C => "C",
            Language::Rust(_) => "Rust",
        };
        let folder = in_shell(&self.folder.display().to_string());
        format!(
            "Created {}: a guest in {language}, {files} files. Build it, and run it beside other guests:\n\
             \n  cd {folder}\
             \n  make run                   # on QEMU\
             \n  make run PLATFORM=board    # on the virtual board\n\
             \nREADME.md describes the files.\n",
            self.folder.display(),
        )
    }
}

/// What leads Cargo to the libraries for the bare-metal target where set-up built them for a compiler that comes
/// without (setup/rust.sh), as lines of Cargo's configuration. Nothing where a compiler brings its own.
fn sysroot() -> String {
    let set_up = crate::artifacts::root().map(|root| root.join("build/setup/cargo.toml"));
    set_up.filter(|file| file.is_file()).map_or_else(String::new, |file| {
        format!(
            "# The libraries for the bare-metal target that the set-up of Tactus built for this machine's compiler.\n\
             include = [{{ path = {:?}, optional = true }}]\n\n",
            file.display().to_string()
        )
    })
}

/// Refuses a name that no VM, image or Cargo package can have.
fn check_name(name: &str, language: &Language) -> miette::Result<()> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(allowed) {
        return Err(miette!(
            help = "choose another; it becomes the name of a VM",
            "`{name}` is not a valid name: a guest's name is a letter, then letters, digits, `-` and `_`"
        ));
    }
    if name.len() > limit::NAME {
        return Err(miette!(
            help = "shorten it; it becomes the name of a VM",
            "`{name}` has {} characters; a guest's name has at most {}",
            name.len(),
            limit::NAME
        ));
    }
    if OTHERS.contains(&name) {
        return Err(miette!(
            help = "choose another",
            "`{name}` is the name of another VM in the generated system"
        ));
    }
    if matches!(language, Language::Rust(_)) {
        if NOT_FOR_CARGO.split_whitespace().any(|word| word == name) {
            return Err(miette!(
                help = "choose another; it becomes the name of a package and a program",
                "`{name}` is reserved by Rust or Cargo"
            ));
        }
        if runtime::is_package(name) {
            return Err(miette!(
                help = "choose another",
                "`{name}` is the name of a package that the guest runtime depends on"
            ));
        }
    }
    Ok(())
}

/// How to call this program: by its name where the path leads to it, or else by its place.
fn this_program() -> String {
    let Ok(program) = std::env::current_exe() else {
        return "tactus".to_owned();
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let by_name = std::env::split_paths(&path)
        .map(|directory| directory.join("tactus"))
        .find(|candidate| candidate.is_file())
        .and_then(|candidate| candidate.canonicalize().ok());
    if by_name.is_some() && by_name == program.canonicalize().ok() {
        return "tactus".to_owned();
    }
    program.display().to_string()
}

/// A word for a shell.
fn in_shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%".contains(c);
    if word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A word for a shell that a Makefile calls.
fn in_makefile(word: &str) -> String {
    in_shell(word).replace('$', "$$").replace('#', "\\#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(name: &str, language: Language, message: &str, help: &str) {
        let report = Starter::new(Path::new(name), language)
            .err()
            .expect("it is refused");
        assert_eq!(report.to_string(), message);
        assert_eq!(
            report.help().map(|help| help.to_string()),
            Some(help.into())
        );
    }

    #[test]
    fn bad_names_are_refused_with_the_rule() {
        for name in ["2fast", "-c", "a b", "blink.c", "grün"] {
            refused(
                name,
                Language::C,
                &format!(
                    "`{name}` is not a valid name: a guest's name is a letter, then letters, digits, `-` and `_`"
                ),
                "choose another; it becomes the name of a VM",
            );
        }
        refused(
            "abcdefghijklmnopq",
            Language::C,
            "`abcdefghijklmnopq` has 17 characters; a guest's name has at most 16",
            "shorten it; it becomes the name of a VM",
        );
        refused(
            "peer",
            Language::C,
            "`peer` is the name of another VM in the generated system",
            "choose another",
        );
        refused(
            "test",
            Language::Rust(None),
            "`test` is reserved by Rust or Cargo",
            "choose another; it becomes the name of a package and a program",
        );
        refused(
            "fdt",
            Language::Rust(None),
            "`fdt` is the name of a package that the guest runtime depends on",
            "choose another",
        );
        for path in ["", "..", "/", "."] {
            refused(
                path,
                Language::C,
                &format!("`{path}` does not end with a folder's name"),
                "end the path with the guest's name, for example `blink`",
            );
        }
        assert!(Starter::new(Path::new("no/such/place/test"), Language::C).is_ok());
    }

    #[test]
    fn the_program_is_quoted_for_make_and_shell() {
        assert_eq!(in_makefile("/usr/bin/tactus"), "/usr/bin/tactus");
        assert_eq!(in_makefile("/a b/it's/$x#/t"), r"'/a b/it'\''s/$$x\#/t'");
    }

    #[test]
    fn no_placeholder_is_left() {
        for language in [
            Language::C,
            Language::Rust(None),
            Language::Rust(Some("/clone/guests/runtime".into())),
        ] {
            let starter = Starter::new(Path::new("blink"), language).expect("a good name");
            for (name, text) in starter.files().expect("they are embedded") {
                let rest = text.split('@').skip(1).step_by(2);
                for word in rest {
                    let is_placeholder =
                        !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase());
                    assert!(!is_placeholder, "{name} holds @{word}@");
                }
            }
        }
    }
}
