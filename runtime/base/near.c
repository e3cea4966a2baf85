/*
 * near.c - the candidate closest to a misspelled word, and "did you mean" in messages.
 *
 * The distance is that of F. J. Damerau, "A technique for computer detection and correction of
 * spelling errors", CACM 7 (1964), in the form that edits no letter twice: letters that are
 * missing, too many, wrong, or in the wrong order of two. Case, hyphens and the like count nothing.
 * The simulated device is linked with this file alone, so it calls no other.
 */
#include "runtime/base/base.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The letters and digits of WORD in lower case; 0 where they are none or too many. */
static size_t letters_of(const char *word, char letters[BN_NEAR_LETTERS])
{
    size_t count = 0;
    for (; *word; word++) {
        if (!isalnum((unsigned char)*word))
            continue;
        if (count + 1 == BN_NEAR_LETTERS)
            return 0;
        letters[count++] = (char)tolower((unsigned char)*word);
    }
    letters[count] = '\0';
    return count;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* AT[i][j]: edits from the first i letters of A to the first j of B. */
static size_t distance(const char *a, size_t a_count, const char *b, size_t b_count)
{
    size_t at[BN_NEAR_LETTERS][BN_NEAR_LETTERS];
    for (size_t i = 0; i <= a_count; i++)
        at[i][0] = i;
    for (size_t j = 0; j <= b_count; j++)
        at[0][j] = j;
    for (size_t i = 1; i <= a_count; i++)
        for (size_t j = 1; j <= b_count; j++) {
            const bool same = a[i - 1] == b[j - 1];
            at[i][j] = least(least(at[i - 1][j], at[i][j - 1]) + 1, at[i - 1][j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                at[i][j] = least(at[i][j], at[i - 2][j - 2] + 1);
        }
    return at[a_count][b_count];
}

bn_near bn_near_begin(const char *word)
{
    bn_near near = {.edits = SIZE_MAX};
    near.count = letters_of(word, near.letters);
    return near;
}

void bn_near_try(bn_near *near, const char *candidate)
{
    char letters[BN_NEAR_LETTERS];
    const size_t count = letters_of(candidate, letters);
    if (near->count == 0 || count == 0)
        return;
    size_t edits = distance(near->letters, near->count, letters, count);
    const size_t longer = count > near->count ? count : near->count;
    /* The beginning of a word is one edit from it, so that any nearer word is preferred. */
    const bool begins = near->count >= 3 && count > near->count &&
                        strncmp(letters, near->letters, near->count) == 0;
    if (begins)
        edits = least(edits, 1);
    if (edits >= near->edits || (!begins && 3 * edits > longer))
        return;
    near->edits = edits;
    snprintf(near->best, sizeof near->best, "%s", candidate);
}

const char *bn_near_best(const bn_near *near)
{
    return near->best[0] ? near->best : NULL;
}

void bn_meant_put(bn_meant meant, char *out, size_t size)
{
    const char *gap = meant.list[0] ? " " : "";
    if (meant.best)
        snprintf(out, size, "; did you mean %s? %s%s%s", meant.best, meant.rest, gap, meant.list);
    else
        snprintf(out, size, "; %c%s%s%s", tolower((unsigned char)meant.rest[0]), meant.rest + 1,
                 gap, meant.list);
}
