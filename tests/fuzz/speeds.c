/* Files of the time model's constants: what is accepted keeps to its limits, and reads the same when it is written again. */
#include "time/speeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/card.h"
#include "common/error.h"
#include "fuzz.h"

static void check_again(const struct plm_speeds *speeds)
{
    struct plm_speeds again;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    MUST(out);
    plm_speeds_write(out, speeds);
    MUST(!fclose(out));
    fuzz_ini("again.ini", text, size);
    MUST(plm_speeds_read("again.ini", NULL, NULL, &again, NULL) == 0);
    for (size_t i = 0; i < PLM_SPEEDS; i++) {
        const double a = plm_speed_get(speeds, &plm_speed[i]), b = plm_speed_get(&again, &plm_speed[i]);
        MUST(a >= plm_speed[i].least && a <= plm_speed[i].most && fabs(a - b) <= 1e-5 * fabs(a));
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_speeds speeds;
    struct plm_error error = {0};
    fuzz_ini("speeds.ini", data, size);
    if (plm_speeds_read("speeds.ini", NULL, NULL, &speeds, &error))
        fuzz_sentence(&error);
    else
        check_again(&speeds);
    return 0;
}
