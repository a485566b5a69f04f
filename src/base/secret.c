#include "base/secret.h"
#include "common/secret_shape.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

static const char MASK[] = "***";

/* ---- names ---- */

enum place {
    ANYWHERE, /* a part of the name */
    LAST,     /* its last part */
    PLAIN,    /* its last part, unless all the others are words of tables and of text */
};

static const struct {
    const char *word;
    enum place place;
    bool ending; /* it may have letters before it that nothing sets apart: PGPASSWORD */
} secrets[] = {
    {"password", ANYWHERE, true},
    {"passwd", ANYWHERE, true},
    {"passphrase", ANYWHERE, true},
    {"secret", ANYWHERE, true},
    {"secrets", ANYWHERE, true},
    {"credential", ANYWHERE, true},
    {"credentials", ANYWHERE, true},
    {"authorization", ANYWHERE, false},
    {"bearer", LAST, false},
    {"auth", LAST, false},
    {"oauth", LAST, false},
    {"pwd", LAST, false},
    {"pass", LAST, false},
    {"passcode", LAST, true},
    {"creds", LAST, true},
    {"jwt", LAST, false},
    {"pat", LAST, false}, /* GITHUB_PAT */
    {"sig", LAST, false}, /* of addresses that were signed for a time */
    {"signature", LAST, false},
    {"apikey", LAST, true},
    {"accesskey", LAST, true},
    {"secretkey", LAST, true},
    {"privatekey", LAST, true},
    {"token", PLAIN, true},
    {"key", PLAIN, false},
    {"keys", PLAIN, false},
    {"cookie", LAST, false},
};

/* --pad-token, --max-token, --sort-key, --image-key */
static const char *const harmless[] = {
    "batch", "bos",    "cache",  "caption", "class",  "cls",   "column",  "count", "data",    "dataset", "dict",
    "end",   "eos",    "eval",   "feature", "field",  "first", "foreign", "group", "image",   "index",   "input",
    "label", "last",   "mask",   "max",     "min",    "n",     "new",     "next",  "num",     "order",   "output",
    "pad",   "per",    "prefix", "primary", "prompt", "query", "sep",     "sort",  "special", "start",   "state",
    "stop",  "suffix", "target", "test",    "text",   "train", "unk",     "val",   "value",   "video",   "vocab",
};

/* --password-file: where it is, is none. */
static const char *const places[] = {"dir", "file", "folder", "path"};

enum { PARTS = 16 };
struct part {
    const char *text;
    size_t length;
};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Between apiKey's i and K, and APIKey's I and K. */
static bool begins_word(const char *name, size_t at, size_t length)
{
    const unsigned char before = (unsigned char)name[at - 1], here = (unsigned char)name[at];
    if (!isupper(here))
        return false;
    return islower(before) || isdigit(before) ||
           (isupper(before) && at + 1 < length && islower((unsigned char)name[at + 1]));
}

/* Those of more than digits. A name with more parts than there is room for keeps its last ones. */
static size_t name_split(const char *name, size_t length, struct part part[PARTS])
{
    size_t count = 0;
    for (size_t at = 0; at < length;) {
        const size_t from = at;
        bool letters = false;
        while (at < length && isalnum((unsigned char)name[at]) && (at == from || !begins_word(name, at, length)))
            letters |= isalpha((unsigned char)name[at++]) != 0;
        if (letters) {
            if (count == PARTS)
                memmove(part, part + 1, --count * sizeof part[0]);
            part[count++] = (struct part){name + from, at - from};
        }
        if (at == from)
            at++;
    }
    for (size_t i = 0; i < count; i++) /* token2 */
        while (isdigit((unsigned char)part[i].text[part[i].length - 1]))
            part[i].length--;
    return count;
}

static bool part_is(const struct part *p, const char *word, bool ending)
{
    const size_t n = strlen(word);
    if (p->length < n || (!ending && p->length > n))
        return false;
    return !strncasecmp(p->text + p->length - n, word, n);
}

static bool part_among(const struct part *p, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (part_is(p, words[i], false))
            return true;
    return false;
}

/* Nothing but such words before the last: `--key` alone is a secret. */
static bool is_plain(const struct part *part, size_t count)
{
    size_t i = 0;
    while (i + 1 < count && part_among(&part[i], harmless, sizeof harmless / sizeof harmless[0]))
        i++;
    return count > 1 && i + 1 == count;
}

bool plm_secret_name(const char *name, size_t length)
{
    struct part part[PARTS];
    const size_t count = name_split(name, length, part);
    if (!count || part_among(&part[count - 1], places, sizeof places / sizeof places[0]))
        return false;
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        for (size_t k = secrets[i].place == ANYWHERE ? 0 : count - 1; k < count; k++)
            if (part_is(&part[k], secrets[i].word, secrets[i].ending))
                return secrets[i].place != PLAIN || !is_plain(part, count);
    return false;
}

/* ---- words ---- */

struct text {
    FILE *out;
    const char *at, *from; /* where it is, and where the word begins */
};

static void put_mask(struct text *t, const char *end)
{
    fputs(MASK, t->out);
    t->at = end;
}

/* Past blanks, also those of a line that goes on in the next one. There is a character before it. */
static const char *blanks_skip(const char *at)
{
    while (*at && (strchr(" \t\\", *at) || (*at == '\n' && at[-1] == '\\')))
        at++;
    return at;
}

/* After the sign that ends a secret's name. What follows a colon may have blanks: "Authorization: Bearer X". */
static void value_put(struct text *t, bool first, char sign)
{
    const char *value = blanks_skip(t->at), *end;
    const char quote[] = {*value == '"' || *value == '\'' ? *value : '\0', '\0'};
    if (first)
        end = value + strlen(value);
    else if (*quote)
        end = value + 1 + strcspn(value + 1, quote);
    else
        end = value + strcspn(value, sign == ':' ? "\n;&|`\"'}]," : " \t\n;&|`\"')}],");
    value += *quote && !first;
    fprintf(t->out, "%.*s", (int)(value - t->at), t->at);
    put_mask(t, end);
}

/* user:X@ after "://"; a user alone is a secret to web servers. */
static void authority_put(struct text *t, bool web)
{
    const char *end = t->at + strcspn(t->at, "/?# \t\n\"'"), *at = NULL, *colon;
    for (const char *c = t->at; c < end; c++)
        if (*c == '@')
            at = c;
    if (!at)
        return;
    colon = memchr(t->at, ':', (size_t)(at - t->at));
    if (colon) {
        fprintf(t->out, "%.*s:", (int)(colon - t->at), t->at);
        put_mask(t, at);
    } else if (web)
        put_mask(t, at);
}

/* A name, and its value if that is secret. */
static void name_put(struct text *t)
{
    const char *name = t->at;
    size_t length = 0, gap;
    bool option;
    char sign;
    while (is_name(name[length]))
        length++;
    gap = strspn(name + length, "\"' \t]\\"); /* environ['HF_TOKEN'] = X, {\"key\": X} */
    option = (*name == '-' || (length == 6 && !strncasecmp(name, "Bearer", 6))) && gap && strchr(" \t", name[length]);
    sign = name[length + gap];
    fprintf(t->out, "%.*s", (int)length, name);
    t->at += length;
    if (!strncmp(t->at, "://", 3)) {
        fputs("://", t->out);
        t->at += 3;
        authority_put(t, !strncasecmp(name, "http", 4));
    } else if ((sign == '=' || sign == ':' || option) && plm_secret_name(name, length)) {
        gap += sign == '=' || sign == ':';
        fprintf(t->out, "%.*s", (int)gap, t->at);
        t->at += gap;
        value_put(t, name == t->from, sign);
    }
}

char *plm_secret_mask(const char *word, bool *next)
{
    const bool secret = *next && word[0] != '-';
    size_t length = strspn(word, "-"), size;
    char *masked = NULL;
    struct text t = {.at = word, .from = word};
    *next = false;
    if (secret)
        return plm_strdup(MASK);
    while (is_name(word[length]))
        length++;
    if (word[0] == '-' && !word[length]) {
        *next = plm_secret_name(word, length);
        masked = plm_strdup(word);
        plm_hide_secrets(masked);
        return masked;
    }
    t.out = open_memstream(&masked, &size);
    if (!t.out)
        plm_out_of_memory();
    while (*t.at)
        if (is_name(*t.at))
            name_put(&t);
        else
            fputc(*t.at++, t.out);
    if (fclose(t.out))
        plm_out_of_memory();
    plm_hide_secrets(masked);
    return masked;
}
