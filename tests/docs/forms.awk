# forms.awk - compares the form of an output that a document shows with the form of a real one, for
# check_docs.sh:
#
#   awk -v excused='COLUMN|COLUMN' -f forms.awk REAL SHOWN
#
# A head of a table is a line of four columns or more, two blanks apart, without a digit but in "p10",
# "p90" and "95 %". Prints a line for each column of a shown head that no real head has. EXCUSED are
# columns that a short run does not have.

BEGIN {
    count = split(excused, list, "|")
    for (i = 1; i <= count; i++)
        known[list[i]] = 1
}
{
    line = $0
    gsub(/ 95 %/, "", line)
    gsub(/^ +| +$/, "", line)
    plain = line
    gsub(/p10|p90/, "", plain)
    count = split(line, column, /   */)
    if (count < 4 || plain ~ /[0-9]/ || plain ~ /^[- ]*$/)
        next
    for (i = 1; i <= count; i++)
        if (FILENAME == ARGV[1])
            known[column[i]] = 1
        else if (!(column[i] in known))
            print "    the real output has no column '" column[i] "'"
}
