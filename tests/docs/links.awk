# links.awk - the links of Markdown files and what they may lead to, for check_docs.sh. Prints lines
# with tabs: "link FILE LINE TARGET ANCHOR", where ANCHOR is a heading's or "-", and "heading FILE
# ANCHOR".

/^#+ / {
    slug = tolower($0)
    sub(/^#+ +/, "", slug)
    gsub(/[^a-z0-9 _-]/, "", slug)
    gsub(/ /, "-", slug)
    printf "heading\t%s\t%s\n", FILENAME, slug
    next
}
# What a program prints may look like a link.
/^    / { next }
{
    rest = $0
    while (match(rest, /\]\([^)]*\)/)) {
        target = substr(rest, RSTART + 2, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
        if (target ~ /^(https?|mailto):/)
            continue
        anchor = "-"
        if (index(target, "#")) {
            anchor = substr(target, index(target, "#") + 1)
            target = substr(target, 1, index(target, "#") - 1)
        }
        printf "link\t%s\t%d\t%s\t%s\n", FILENAME, FNR, target == "" ? "-" : target, anchor
    }
}
