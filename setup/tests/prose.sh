#!/usr/bin/env bash
# Tests setup/prose.py: what it finds in a page and in comments of each language, and what it leaves alone. Run by
# `make lint`; takes a second.
set -euo pipefail
prose=$(dirname "${BASH_SOURCE[0]}")/../prose.py

clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
mkdir -p "$clone/setup" "$clone/fabric/generated" "$clone/fabric/registers/src/stamp"
cp "$prose" "$clone/setup"
echo "# None." >"$clone/setup/prose-unconverted.txt"
git -C "$clone" init --quiet
cd "$clone"

# Words that are not used, of which this file is to be free, and lines that are too wide.
word=no; word+=body
two=no; two+=" one"
wide() { printf 'a%.0s ' $(seq "$1"); }

printf '# Title\n\nText of %s.\n' "$word" >page.md
# A word in a comment at the line's end, in a block and over two lines; one in code and one in a string are no findings.
cat >a.rs <<RUST
//! For ${two% *}
//! ${two#* } else.
fn f() {} // $word
/* $word
 * $word */
/// \`$word\`
/// \`\`\`
/// // $word
/// \`\`\`
fn g<'a>(_: &'a str) -> (char, &str, &str) {
    ('"', "// $word", r#"a " // $word"#)
}
/// $(wide 58)
/// $(wide 59)
/// | $(wide 60)|
/// [a link](https://$(printf 'x%.0s' $(seq 110)))
RUST
printf '// %s\n// %s\n// %s\n' "$word" "$(wide 48)" "$(wide 49)" >b.sv
printf '#!/bin/sh\n# %s\necho "$#" # %s\n# %s\n' "$word" "$word" "$(wide 60)" >c.sh
printf '"""Text of %s."""\nx = "%s"  # %s\n' "$word" "$word" "$word" >d.py
printf 'x = "%s"\n# %s\n' "$word" "$word" >e.toml
printf '/* %s */\n#define X "/* %s */"\n' "$word" "$word" >f.h
printf 'nop  # %s\n#ifdef %s\n' "$word" "$word" >g.S
printf 'desc = "%s\n%s"; // %s\n' "$(wide 70)" "$word" "$word" >h.rdl
printf '// %s\n' "$word" | tee fabric/generated/a.sv >fabric/registers/src/stamp/a.rs

expected="page.md:3: \`$word\` is not used
a.rs:1: \`$two\` is not used
a.rs:3: \`$word\` is not used
a.rs:4: \`$word\` is not used
a.rs:5: \`$word\` is not used
a.rs:14: a comment of 122 characters
b.sv:1: \`$word\` is not used
b.sv:3: a comment of 101 characters
c.sh:2: \`$word\` is not used
c.sh:3: \`$word\` is not used
c.sh:4: a comment of 122 characters
d.py:1: \`$word\` is not used
d.py:2: \`$word\` is not used
e.toml:2: \`$word\` is not used
f.h:1: \`$word\` is not used
g.S:1: \`$word\` is not used
h.rdl:2: \`$word\` is not used
h.rdl:2: \`$word\` is not used"

if found=$(setup/prose.py 2>/dev/null); then
    echo "prose.py: exits with 0 where there are findings" >&2
    exit 1
fi
if ! diff <(echo "$expected") <(cut -d';' -f1 <<<"$found") >&2; then
    echo "prose.py: finds (>) something else than expected (<)" >&2
    exit 1
fi

# Without them nothing is found.
rm ./*.*
if ! found=$(setup/prose.py 2>/dev/null) || [ -n "$found" ]; then
    printf 'prose.py: finds in a clone without text\n%s\n' "$found" >&2
    exit 1
fi
