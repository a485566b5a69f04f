/* Corrections of the time model, which are kernel ridge regressions: a file of foreign origin for each figure. What is taken
   answers with a number, and says the same when it was written again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "study/evaluate/time_correct.h"
#include "fuzz.h"

#define FOLDER "correction"

static double correction_ask(const struct plm_timed_correct *c, int figure, double size)
{
    const struct plm_timed_row row = {.batch = 32};
    struct plm_timed_forecast f = {.known = true, .step = size, .busy = size / 2, .host = size / 4, .kernels = 100};
    double answer;
    for (int i = 0; i < PLM_TIMED_FIGURES; i++)
        f.figure[i] = i == PLM_FIGURE_STEP ? size : 0.5;
    answer = plm_timed_correct_figure(c, &row, &f, figure);
    MUST(!isnan(answer) && answer >= 0 && (figure == PLM_FIGURE_STEP || answer <= 1));
    return answer;
}

static void correction_write(const struct plm_timed_correct *c, const char *path, int figure)
{
    struct plm_timed_correct again;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    MUST(out && plm_timed_correct_save(out, c, figure) == 0 && !fclose(out));
    fuzz_place(path, text, size);
    free(text);
    MUST(plm_timed_correct_load(FOLDER, &again, NULL) == 0 && again.rows == c->rows);
    MUST(correction_ask(&again, figure, 1e6) == correction_ask(c, figure, 1e6));
    plm_timed_correct_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int i = 0; i < PLM_TIMED_FIGURES; i++) {
        const char *name = plm_timed_figure_name(i);
        struct plm_timed_correct c;
        struct plm_error error = {0};
        char path[64];
        if (i && !memmem(data, size, name, strlen(name))) /* the others say so in the same way */
            continue;
        plm_timed_correct_path(FOLDER, i, path, sizeof path);
        fuzz_place(path, data, size);
        if (plm_timed_correct_load(FOLDER, &c, &error)) {
            fuzz_sentence(&error);
        } else {
            correction_ask(&c, i, 0);
            correction_ask(&c, i, 1e30);
            correction_write(&c, path, i);
            plm_timed_correct_free(&c);
        }
        fuzz_place(path, NULL, 0);
    }
    return 0;
}
