#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

void plm_json_start(struct plm_json *json, FILE *out)
{
    *json = (struct plm_json){.out = out, .first = true};
}

void plm_json_document(struct plm_json *json, FILE *out, const char *schema)
{
    plm_json_start(json, out);
    plm_json_object(json, NULL);
    plm_json_string(json, "schema", schema);
}

/* Bytes that are not UTF-8 (file names can hold anything) become the replacement character. */
static void text_quote(const struct plm_json *json, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    FILE *out = json->out;
    fputc('"', out);
    while (*p) {
        unsigned n = plm_utf8_length((const char *)p);
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p == '\n')
            fputs("\\n", out);
        else if (*p < 0x20 || *p == 0x7f || (json->page && *p == '<'))
            fprintf(out, "\\u%04x", *p);
        else if (!n)
            fputs(PLM_UTF8_REPLACEMENT, out);
        else
            fwrite(p, 1, n, out);
        p += n ? n : 1;
    }
    fputc('"', out);
}

static void open_value(struct plm_json *json, const char *key)
{
    if (json->page && !json->first)
        fputc(',', json->out);
    else if (json->depth && !json->page) {
        fputs(json->first ? "\n" : ",\n", json->out);
        for (int i = 0; i < json->depth; i++)
            fputs("  ", json->out);
    }
    json->first = false;
    if (key) {
        text_quote(json, key);
        fputs(json->page ? ":" : ": ", json->out);
    }
}

static void open_group(struct plm_json *json, const char *key, char bracket)
{
    open_value(json, key);
    fputc(bracket, json->out);
    json->depth++;
    json->first = true;
}

static void close_group(struct plm_json *json, char bracket)
{
    json->depth--;
    if (!json->first && !json->page) {
        fputc('\n', json->out);
        for (int i = 0; i < json->depth; i++)
            fputs("  ", json->out);
    }
    fputc(bracket, json->out);
    json->first = false;
}

void plm_json_object(struct plm_json *json, const char *key)
{
    open_group(json, key, '{');
}

void plm_json_array(struct plm_json *json, const char *key)
{
    open_group(json, key, '[');
}

void plm_json_end_object(struct plm_json *json)
{
    close_group(json, '}');
}

void plm_json_end_array(struct plm_json *json)
{
    close_group(json, ']');
}

void plm_json_string(struct plm_json *json, const char *key, const char *value)
{
    open_value(json, key);
    text_quote(json, value);
}

void plm_json_text(struct plm_json *j, const char *key, const char *value)
{
    if (value && *value)
        plm_json_string(j, key, value);
}

void plm_json_integer(struct plm_json *json, const char *key, uint64_t value)
{
    open_value(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void plm_json_signed(struct plm_json *json, const char *key, int64_t value)
{
    open_value(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void plm_json_real(struct plm_json *json, const char *key, double value)
{
    open_value(json, key);
    if (isfinite(value))
        fprintf(json->out, "%.10g", value);
    else
        fputs("null", json->out);
}

void plm_json_bool(struct plm_json *json, const char *key, bool value)
{
    open_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

int plm_json_finish(struct plm_json *json)
{
    if (json->depth)
        plm_json_end_object(json);
    fputc('\n', json->out);
    return fflush(json->out) || ferror(json->out) ? PLM_EIO : 0;
}
