# names.awk - code spans of documents that name what does not exist, for check_docs.sh:
#
#   awk -F TAB -f names.awk OPTIONS TARGETS VARIABLES SPANS
#
# OPTIONS has a command and one of its options a line, TARGETS a target of make, VARIABLES a word in
# capitals of the sources; SPANS is of commands.awk. Prints a line for each fault.

function fault(what)
{
    print $1 ":" $2 ": `" $3 "`: " what
}

# bench COMMAND --OPTION VALUE ...
function check_bench(word, count,    i, command, option)
{
    command = "run"
    if (word[2] == "help" || word[2] == "COMMAND")
        return
    if (word[2] ~ /^[a-z]/) {
        command = word[2]
        if (!(command in commands)) {
            fault("there is no command " command)
            return
        }
    }
    for (i = 2; i <= count; i++) {
        option = word[i]
        sub(/=.*/, "", option)
        if (option ~ /^--[a-z]/ && !((command, option) in takes))
            fault("bench " command " does not take " option)
    }
}

# make TARGET NAME=VALUE ...; after || stands another program.
function check_make(word, count,    i)
{
    for (i = 2; i <= count && word[i] != "||"; i++)
        if (word[i] ~ /^[a-z-]+$/ && !(word[i] in targets) && word[i] != "plugin")
            fault("there is no target " word[i])
}

# Options of any command. Those with underscores are XLA's.
function check_options(word, count,    i)
{
    for (i = 1; i <= count; i++)
        if (word[i] ~ /^--[a-z-]+$/ && !(word[i] in options) && !(word[i] in of_others))
            fault("no command takes " word[i])
}

BEGIN {
    of_others["--export-json"] = 1 # hyperfine's
}
FNR == 1 { file++ }
file == 1 {
    commands[$1] = 1
    options[$2] = 1
    takes[$1, $2] = 1
    next
}
file == 2 {
    targets[$1] = 1
    next
}
file == 3 {
    variables[$1] = 1
    next
}
{
    count = split($3, word, " ")
    name = word[1]
    sub(/=.*/, "", name)
    if ($3 ~ /^(build\/)?bench( |$)/)
        check_bench(word, count)
    else if (word[1] == "make")
        check_make(word, count)
    else if ($3 ~ /^--/)
        check_options(word, count)
    else if (count == 1 && name ~ /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/ && !(name in variables))
        fault("the sources do not know " name)
}
