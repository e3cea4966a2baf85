# forms.awk - compares the form of an output that a document shows with the form of a real one, for
# check_docs.sh:
#
#   awk -v excused='COLUMN|COLUMN' -v unasked='COLUMN|COLUMN' [-v partly=1] -f forms.awk REAL SHOWN
#
# A head of a table is a line of four columns or more, two blanks apart, without a digit but in "p10",
# "p90" and "95 %". Prints a line for each column of a shown head that no real head has. EXCUSED are
# columns that a short run does not have. Of the real heads with the same first column, a shown head is
# like the one that has most of its columns: prints a line for each column of that one that is not shown.
# UNASKED are columns that a run has for what the document did not ask for. PARTLY: the document says that
# columns are left out; so does an output itself where it says how to see all columns.

# The real head that shown head NUMBER is like; 0: none.
function like(number,    i, k, common, most, best)
{
    most = best = 0
    for (i = 1; i <= heads["real"]; i++) {
        if (cell["real", i, 1] != cell["shown", number, 1])
            continue
        common = 0
        for (k = 1; k <= columns["shown", number]; k++)
            common += ("real", i, "has", cell["shown", number, k]) in cell
        if (common > most) {
            most = common
            best = i
        }
    }
    return best
}

BEGIN {
    count = split(excused, list, "|")
    for (i = 1; i <= count; i++)
        known[list[i]] = 1
    count = split(unasked, list, "|")
    for (i = 1; i <= count; i++)
        needless[list[i]] = 1
}
{
    kind = FILENAME == ARGV[1] ? "real" : "shown"
    if (kind == "shown" && /^All columns/)
        partly = 1
    line = $0
    gsub(/ 95 %/, "", line)
    # Without an interval, whose column stands close, one blank is between these two.
    sub(/ vs lazy cells/, " vs lazy  cells", line)
    gsub(/^ +| +$/, "", line)
    plain = line
    gsub(/p10|p90/, "", plain)
    count = split(line, column, /   */)
    if (count < 4 || plain ~ /[0-9]/ || plain ~ /^[- ]*$/)
        next
    number = ++heads[kind]
    columns[kind, number] = count
    for (i = 1; i <= count; i++) {
        cell[kind, number, i] = column[i]
        cell[kind, number, "has", column[i]] = 1
        if (kind == "real")
            known[column[i]] = 1
        else if (!(column[i] in known))
            print "    the real output has no column '" column[i] "'"
    }
}
END {
    for (number = 1; number <= heads["shown"]; number++) {
        model = partly ? 0 : like(number)
        wanted[model] = 1
        for (i = 1; i <= columns["shown", number]; i++)
            there[model, cell["shown", number, i]] = 1
    }
    for (number = 1; number <= heads["real"]; number++)
        for (i = 1; number in wanted && i <= columns["real", number]; i++)
            if (!((number, cell["real", number, i]) in there) && !(cell["real", number, i] in needless))
                print "    the document does not show the column '" cell["real", number, i] "'"
}
