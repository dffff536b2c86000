# Finds `suite` in a deb822 apt source file (sources.list(5), "deb822-style format") and prints its
# archive's URIs and keyring, which may be a whole key in continuation lines.
function flush_stanza() {
    if (types ~ / deb / && index(suites, " " suite " ") && enabled !~ /^[ \t]*(no|false|off|0)[ \t]*$/) {
        printf "%s%s", uris, keyring
        done = 1
        exit
    }
    types = suites = uris = keyring = enabled = field = ""
}
/^#/ { next }
/^[ \t]*$/ { flush_stanza(); next }
/^[ \t]/ {
    value = $0
    if (field == "signed-by") keyring = keyring value "\n"
    if (field == "uris") uris = uris value "\n"
    if (field == "suites") suites = suites value " "
    if (field == "types") types = types value " "
    next
}
{
    field = tolower(substr($0, 1, index($0, ":") - 1))
    value = substr($0, index($0, ":") + 1)
    gsub(/\t/, " ", value)
    if (field == "types") types = " " value " "
    if (field == "suites") suites = " " value " "
    if (field == "uris") uris = "URIs:" value "\n"
    if (field == "signed-by") keyring = "Signed-By:" value "\n"
    if (field == "enabled") enabled = value
}
END { if (!done) flush_stanza() }
