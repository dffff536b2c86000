# Lists what failed in the output of `cargo test` or of fabric/flow.py, one a line: its name, a tab, and the command
# that runs it alone. Prints nothing where no single test failed, as when something does not compile. `options` are
# options of cargo, and `also` one of the tests' program, that they ran with, if any; each ends with a blank.

# Quotes a word for the shell where it needs that.
function quoted(word) {
    if (word ~ /^[A-Za-z0-9_.,:\/=+-]+$/) return word
    gsub(/'/, "'\\''", word)
    return "'" word "'"
}

{ gsub(/\033\[[0-9;]*m/, "") }

# libtest lists the names of a program's failed tests at the end, indented, below the last line `failures:`. The first
# such line begins the tests' own output, in which there may be others.
$0 == "failures:" { listing = 1; count = 0; next }
listing && /^    [^ ]/ { failed[++count] = substr($0, 5); next }
listing && $0 != "" { listing = 0 }

# Cargo says behind it which program that was. One that lists no test has crashed, or could not be started.
/^error: (doc)?test failed, to rerun pass `/ {
    program = $0
    sub(/^[^`]*`/, "", program)
    sub(/`.*$/, "", program)
    if (count == 0) printf "%s\tcargo test --locked %s%s\n", program, options, program
    for (i = 1; i <= count; i++) printf "%s\tcargo test --locked %s%s -- %s--exact %s\n", failed[i], options, program, also, quoted(failed[i])
    count = 0
    listing = 0
}

# A job of the fabric's flow: what it does, its block, and what else tells it from others. The jobs beside it that have
# passed are not run again.
/^  FAILED   (lint|test|prove|synth) / {
    name = $0
    sub(/^  FAILED   /, "", name)
    sub(/ +[0-9.]+ s$/, "", name)
    block = ($2 == "lint" && ($3 == "layout" || $3 == "limits" || $3 == "design")) ? "" : " " $3
    alone = "fabric/flow.py " $2 block
    printf "%s\t%s\n", name, alone
}

# Of a block's test module, the tests that failed.
/^           failed: / && name != "" { printf "%s: %s\t%s\n", name, $2, alone }
