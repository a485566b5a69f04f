/* A config whose key is given another value: the format, the key and the value in the first three lines, then the file. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "sweep/config.h"
#include "fuzz.h"

/* The next line, as a text; NULL: there is none. */
static char *line_take(const char **at, const char *end)
{
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    char *line;
    if (!stop)
        return NULL;
    line = strndup(*at, (size_t)(stop - *at));
    MUST(line);
    *at = stop + 1;
    return line;
}

/* All but the value is as it was, and the key is found where it was. */
static void copy_check(const char *file, const char *key, const char *text, size_t size, const char *copy,
                       size_t copied)
{
    struct plm_error error = {0};
    size_t same = 0, rest = 0, again_size;
    char *again;
    while (same < size && same < copied && text[same] == copy[same])
        same++;
    while (rest < size - same && rest < copied - same && text[size - 1 - rest] == copy[copied - 1 - rest])
        rest++;
    MUST(memchr(text + same, '\n', size - same - rest) == NULL || strstr(file, "yaml") == NULL);
    if (plm_sweep_config_edit(file, copy, copied, key, "7", &again, &again_size, &error) == 0)
        free(again);
    else
        fuzz_sentence(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const files[] = {"c.json", "c.toml", "c.yaml"};
    const char *at = (const char *)data, *const end = at + size;
    char *format = line_take(&at, end), *key = format ? line_take(&at, end) : NULL,
         *value = key ? line_take(&at, end) : NULL, *copy;
    struct plm_error error = {0};
    size_t copied;
    if (value && *key && *value && strlen(value) < 256) {
        const char *file = files[(unsigned char)format[0] % 3];
        char *text = malloc((size_t)(end - at) + 1); /* of its own, so that a read beyond it is seen */
        MUST(text);
        memcpy(text, at, (size_t)(end - at));
        text = realloc(text, end > at ? (size_t)(end - at) : 1);
        if (plm_sweep_config_edit(file, text, (size_t)(end - at), key, value, &copy, &copied, &error))
            fuzz_sentence(&error);
        else {
            copy_check(file, key, text, (size_t)(end - at), copy, copied);
            free(copy);
        }
        free(text);
    }
    free(format);
    free(key);
    free(value);
    return 0;
}
