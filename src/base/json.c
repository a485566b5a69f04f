#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "common/printable.h"

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

/* A page is for people: what is read from it is already what is to be shown, lines apart. */
static void text_quote(const struct plm_json *json, const char *text)
{
    char shown[PLM_PRINTABLE_MOST], quoted[PLM_PRINTABLE_MOST];
    FILE *out = json->out;
    unsigned n;
    fputc('"', out);
    for (; *text; text += n) {
        n = plm_printable_json(text, quoted);
        if (json->page && *text == '<')
            fputs("\\u003c", out);
        else if (json->page && *text != '\n' && quoted[0] == '\\' && quoted[1] != *text) {
            plm_printable_next(text, shown);
            fprintf(out, "\\%s", shown); /* it begins with a backslash */
        } else
            fputs(quoted, out);
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
