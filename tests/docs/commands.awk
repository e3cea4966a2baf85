# commands.awk - what the documents name, for check_docs.sh:
#
#   awk -v out=FOLDER -f commands.awk README.md docs/*.md
#
# A block is indented by four blanks or more. In a block with lines that begin with "$ ", these are
# commands and the lines after each are its output. In other blocks, lines that begin with a program
# that the documents use are commands. Writes to FOLDER:
#
#   commands   NUMBER, FILE and LINE of each command, with tabs
#   NUMBER     the command, without prompt and comment
#   NUMBER.out its output, where the document shows one
#   NUMBER.partly is there where the paragraph before says that columns are left out
#   spans      FILE, LINE and text of each code span outside of blocks, with tabs
#   marks      FILE and LINE of each fence, with tabs: there ought to be none

# Without the comment: what follows " # " outside of quotes.
function bare(text,    i, quote, sign)
{
    quote = ""
    for (i = 1; i <= length(text); i++) {
        sign = substr(text, i, 1)
        if (quote != "")
            quote = sign == quote ? "" : quote
        else if (sign == "'" || sign == "\"")
            quote = sign
        else if (sign == "#" && substr(text, i - 1, 1) == " " && substr(text, i + 1, 1) == " ") {
            text = substr(text, 1, i - 1)
            break
        }
    }
    is_open = quote != ""
    sub(/ +$/, "", text)
    return text
}

# Whether TEXT, of a block without prompts, is a command.
function is_command(text)
{
    return text ~ /^(exec )?(build\/)?bench / || text ~ /^make( |$)/ || text ~ /^setup\// ||
           text ~ /^(mpirun|srun|pip) / || text ~ /^source </ || text ~ /^bench .*\| source/ ||
           text ~ /^[A-Z_]+=[^ ]+ bench /
}

# The command that begins with line FIRST of the block; returns its last line.
function put_command(first, text,    last, whole)
{
    last = first
    whole = bare(text)
    while ((is_open || whole ~ /\\$/) && last < lines) {
        last++
        if (is_open)
            whole = bare(whole "\n" block[last])
        else {
            sub(/\\$/, "", whole)
            whole = bare(whole block[last])
        }
    }
    number++
    printf "%d\t%s\t%d\n", number, file, begin + first - 1 > (out "/commands")
    printf "%s\n", whole > (out "/" number)
    close(out "/" number)
    return last
}

function end_block(    i, prompts, current)
{
    prompts = 0
    for (i = 1; i <= lines; i++)
        prompts = prompts || block[i] ~ /^\$ /
    current = 0
    for (i = 1; i <= lines; i++) {
        if (prompts && block[i] ~ /^\$ /) {
            i = put_command(i, substr(block[i], 3))
            current = number
            if (before ~ /[Ss]ome columns (are )?left out/)
                print before > (out "/" current ".partly")
        } else if (prompts && current)
            print block[i] > (out "/" current ".out")
        else if (!prompts && is_command(block[i]))
            i = put_command(i, block[i])
    }
    if (current)
        close(out "/" current ".out")
    lines = 0
}

# Code spans of the paragraph, which may go on from line to line.
function end_paragraph(    rest, span)
{
    rest = paragraph
    before = paragraph == "" ? before : paragraph
    while (match(rest, /`[^`]+`/)) {
        span = substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
        printf "%s\t%d\t%s\n", file, paragraph_line, span > (out "/spans")
    }
    paragraph = ""
}

FNR == 1 {
    end_block()
    end_paragraph()
    file = FILENAME
    before = ""
    blank = 1
}
/^ *```/ { printf "%s\t%d\n", file, FNR > (out "/marks") }
# A blank line may stand within a block.
/^[ \t]*$/ {
    end_paragraph()
    blank = 1
    if (lines) {
        lines++
        block[lines] = ""
    }
    next
}
/^    / && (lines || blank) {
    end_paragraph()
    if (!lines)
        begin = FNR
    lines++
    block[lines] = $0
    sub(/^ +/, "", block[lines])
    blank = 0
    next
}
{
    end_block()
    if (paragraph == "")
        paragraph_line = FNR
    paragraph = paragraph (paragraph == "" ? "" : " ") $0
    gsub(/  +/, " ", paragraph)
    blank = 0
}
END {
    end_block()
    end_paragraph()
}
