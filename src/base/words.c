#include "base/words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "common/printable.h"

enum { LETTERS_MOST = 63 }; /* of a word that is compared; longer ones are told apart by these */

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t plm_words_distance(const char *a, const char *b)
{
    /* Row i: from the first i letters of a to the first j of b; a swap looks back two rows. */
    size_t row[3][LETTERS_MOST + 1], n = strnlen(a, LETTERS_MOST), m = strnlen(b, LETTERS_MOST);
    for (size_t i = 0; i <= n; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                now[j] = i + j;
                continue;
            }
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same_letter(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

/* One slip in a short word, two or three in a long one; or the word was not typed to its end. */
void plm_nearest_see(struct plm_nearest *nearest, const char *known)
{
    const size_t length = strlen(nearest->typed), most = length < 5 ? 1 : length < 9 ? 2 : 3;
    size_t distance = plm_words_distance(nearest->typed, known);
    if (length > 1 && distance > most && !strncmp(nearest->typed, known, length))
        distance = most;
    if (distance > most || distance >= length || (nearest->best && distance >= nearest->distance))
        return;
    nearest->best = known;
    nearest->distance = distance;
}

/* What cannot be shown in a word makes it one of the kind $'\x1b'. */
static char *word_quote(char *at, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
    const bool coded = plm_printable_not(word) != NULL;
    char shown[PLM_PRINTABLE_MOST];
    unsigned n;
    if (*word && strspn(word, plain) == strlen(word))
        return stpcpy(at, word);
    at = stpcpy(at, coded ? "$'" : "'");
    for (; (n = plm_printable_next(word, shown)); word += n)
        if (strncmp(shown, word, n) != 0)
            for (unsigned i = 0; i < n; i++)
                at += sprintf(at, "\\x%02x", (unsigned char)word[i]);
        else if (*word == '\'')
            at = stpcpy(at, coded ? "\\'" : "'\\''");
        else
            at = stpcpy(stpcpy(at, coded && *word == '\\' ? "\\" : ""), shown);
    return stpcpy(at, "'");
}

char *plm_words_quote(const char *const *words, size_t count)
{
    size_t room = 1;
    char *text, *at;
    for (size_t i = 0; i < count; i++)
        room += 4 * strlen(words[i]) + 4; /* a blank and $'' */
    at = text = plm_calloc(room, 1);
    for (size_t i = 0; i < count; i++)
        at = word_quote(i ? stpcpy(at, " ") : at, words[i]);
    return text;
}
