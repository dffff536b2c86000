# Finds `suite` in a one-line apt source list (sources.list(5), "one-line-style format") and prints its
# archive as deb822 fields.
$1 == "deb" {
    options = ""
    line = $0
    sub(/^[ \t]*deb[ \t]+/, "", line)
    if (line ~ /^\[/) {
        options = substr(line, 2, index(line, "]") - 2)
        line = substr(line, index(line, "]") + 1)
    }
    count = split(line, field, /[ \t]+/)
    # A leading blank makes an empty first field.
    first = field[1] == "" ? 2 : 1
    if (count < first + 1 || field[first + 1] != suite)
        next
    print "URIs: " field[first]
    count = split(options, option, /[ \t]+/)
    for (i = 1; i <= count; i++)
        if (tolower(option[i]) ~ /^signed-by=/) {
            keyring = substr(option[i], 11)
            gsub(/,/, " ", keyring)
            print "Signed-By: " keyring
        }
    exit
}
