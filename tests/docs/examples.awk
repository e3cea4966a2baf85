# examples.awk - the examples of a page of bench's help as a block of a document, for check_docs.sh:
#
#   bench help COMMAND | awk -f examples.awk
#
# An example is set in by two blanks and begins with a program. Two blanks or more stand before what it does.
# A backslash at its end goes on with the next line.

/^  (bench|git|make|source) / || more {
    line = $0
    sub(/^ +/, "", line)
    sub(/  +.*$/, "", line)
    print "    " (more ? "" : "$ ") line
    more = line ~ /\\$/
}
