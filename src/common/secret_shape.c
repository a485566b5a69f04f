#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "common/secret_shape.h"

/* What a secret may consist of after its prefix. */
enum alphabet { ALNUM, UPPER, WORD, DASHED }; /* letters and digits; capitals and digits; also _; also _ and - */

static const struct shape {
    const char *prefix;
    enum alphabet alphabet;
    size_t least, most; /* characters after the prefix; most 0: any number */
    bool mixed;         /* has small letters, capitals and digits: the rest may be words with dashes between them */
} shapes[] = {
    {"hf_", ALNUM, 30, 0, false}, /* Hugging Face */
    {"ghp_", ALNUM, 30, 0, false}, /* GitHub */
    {"gho_", ALNUM, 30, 0, false},   {"ghu_", ALNUM, 30, 0, false},       {"ghs_", ALNUM, 30, 0, false},
    {"ghr_", ALNUM, 30, 0, false},   {"github_pat_", WORD, 30, 0, false}, {"glpat-", DASHED, 20, 0, true}, /* GitLab */
    {"sk-", DASHED, 20, 0, true}, /* OpenAI, Anthropic */
    {"AKIA", UPPER, 16, 16, false}, /* AWS */
    {"ASIA", UPPER, 16, 16, false},  {"AIza", DASHED, 35, 35, true}, /* Google */
    {"xoxa-", DASHED, 20, 0, false}, {"xoxb-", DASHED, 20, 0, false}, /* Slack */
    {"xoxp-", DASHED, 20, 0, false}, {"xoxr-", DASHED, 20, 0, false},     {"xoxs-", DASHED, 20, 0, false},
};

static bool is_of(char c, enum alphabet alphabet)
{
    const unsigned char u = (unsigned char)c;
    if (u >= 0x80) /* whatever the locale calls a letter */
        return false;
    if (alphabet == UPPER)
        return isupper(u) || isdigit(u);
    return isalnum(u) || (c == '_' && alphabet >= WORD) || (c == '-' && alphabet == DASHED);
}

static size_t run_of(const char *text, enum alphabet alphabet)
{
    size_t n = 0;
    while (is_of(text[n], alphabet))
        n++;
    return n;
}

static bool is_mixed(const char *text, size_t n)
{
    bool small = false, capital = false, digit = false;
    for (size_t i = 0; i < n; i++) {
        small |= islower((unsigned char)text[i]) != 0;
        capital |= isupper((unsigned char)text[i]) != 0;
        digit |= isdigit((unsigned char)text[i]) != 0;
    }
    return small && capital && digit;
}

/* Where the secret that begins here ends, and how much of it may be shown; NULL: none does. */
static const char *token_end(const char *text, size_t *shown)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const struct shape *s = &shapes[i];
        const size_t prefix = strlen(s->prefix);
        size_t n;
        if (strncmp(text, s->prefix, prefix) != 0)
            continue;
        n = run_of(text + prefix, s->alphabet);
        if (n < s->least || (s->most && n > s->most) || (s->most && is_of(text[prefix + n], ALNUM)) ||
            (s->mixed && !is_mixed(text + prefix, n)))
            continue;
        *shown = prefix;
        return text + prefix + n;
    }
    return NULL;
}

/* A JSON Web Token: three parts with dots between them, of which the first is an object, {" in base 64. */
static const char *jwt_end(const char *text, size_t *shown)
{
    enum { PART_LEAST = 8, HEAD = 3 };
    const char *at = text;
    if (strncmp(text, "eyJ", HEAD) != 0)
        return NULL;
    for (int part = 0; part < 3; part++) {
        const size_t n = run_of(at, DASHED);
        if (n < PART_LEAST || (part < 2 && at[n] != '.'))
            return NULL;
        at += n + (part < 2);
    }
    *shown = HEAD;
    return at;
}

/* user:X@ after "://", as in https://user:X@host */
static const char *password_end(const char *text, size_t *shown)
{
    const size_t n = strncmp(text, "://", 3) ? 0 : 3 + strcspn(text + 3, "/?# \t\n\"'");
    const char *colon = n ? memchr(text + 3, ':', n - 3) : NULL, *end = NULL;
    for (const char *c = colon; c && c < text + n; c++)
        if (*c == '@')
            end = c;
    *shown = end ? (size_t)(colon + 1 - text) : 0;
    return end && end > colon + 1 ? end : NULL;
}

void plm_hide_secrets(char *text)
{
    enum { MASK = 3 };
    const char *from = text;
    char *to = text;
    while (*from) {
        const bool inside = from > text && is_of(from[-1], ALNUM);
        size_t shown = 0;
        const char *end = password_end(from, &shown);
        if (!end && !inside)
            end = token_end(from, &shown);
        if (!end && !inside)
            end = jwt_end(from, &shown);
        if (!end) {
            *to++ = *from++;
            continue;
        }
        memmove(to, from, shown);
        to += shown;
        for (const char *c = from + shown; c < end && c < from + shown + MASK;
             c++) /* never longer than what it hides */
            *to++ = '*';
        from = end;
    }
    *to = '\0';
}
