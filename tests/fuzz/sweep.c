/* A saved sweep: read, shown as text, as a table and as a document, which reads as the same sweep. */
#include <stdio.h>
#include <stdlib.h>

#include "base/draw.h"
#include "common/error.h"
#include "sweep/sweep.h"
#include "fuzz.h"

static char *shown(int (*write)(FILE *, const void *, struct plm_error *), const struct plm_sweep *sweep, size_t *size)
{
    struct plm_error error = {0};
    char *text;
    FILE *out = open_memstream(&text, size);
    MUST(out && write(out, sweep, &error) == 0 && !fclose(out));
    return text;
}

static void text_show(struct plm_sweep *sweep)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    const struct plm_page page = {.out = out, .width = 80};
    plm_sweep_sort(sweep);
    plm_sweep_text(&page, sweep);
    fclose(out);
    fuzz_plain(text, size);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_sweep sweep, again;
    struct plm_error error = {0};
    size_t all;
    char *text;
    if (plm_sweep_read(fuzz_file(data, size), &sweep, &error)) {
        fuzz_sentence(&error);
        return 0;
    }
    text_show(&sweep);
    free(shown(plm_sweep_csv, &sweep, &all));
    text = shown(plm_sweep_json, &sweep, &all);
    if (plm_sweep_read(fuzz_file(text, all), &again, &error) == 0) {
        MUST(again.points == sweep.points && again.cards == sweep.cards);
        plm_sweep_free(&again);
    } else
        fuzz_sentence(&error); /* a text that was made safe to show may have become too long */
    free(text);
    plm_sweep_free(&sweep);
    return 0;
}
