/* What dcgmi prints: a list of cards, or lines of figures. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "study/measure/dcgm.h"

static void line_check(struct plm_dcgm *dcgm, const char *line)
{
    struct plm_reading reading;
    bool any = false;
    const bool told = plm_dcgm_line(dcgm, line, &reading);
    MUST(dcgm->columns >= 0 && dcgm->columns <= PLM_DCGM_COLUMNS);
    for (int i = 0; i < PLM_METRICS; i++) {
        any |= reading.given[i];
        MUST(!reading.given[i] || (reading.value[i] >= 0 && reading.value[i] <= 1));
    }
    MUST(any == told);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const uuids[] = {"GPU-5a2b8b6e-1c64-4d2c-9c1f-0c6d2a7b9e10", "GPU-1", ""};
    struct plm_dcgm dcgm = {.card = 0};
    char *text = calloc(1, size + 1), *rest = text, *line;
    MUST(text);
    memcpy(text, data, size);
    for (size_t i = 0; i < sizeof uuids / sizeof uuids[0]; i++) {
        const int card = plm_dcgm_card(text, uuids[i]);
        MUST(card >= -1 && card <= 4096);
    }
    while ((line = strsep(&rest, "\n")))
        line_check(&dcgm, line);
    free(text);
    return 0;
}
