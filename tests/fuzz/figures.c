/* Figures of a card, and the constants that come out of them: within their limits, whatever was read. */
#include <stdlib.h>

#include "common/card.h"
#include "common/error.h"
#include "fuzz.h"
#include "time/calibrate.h"
#include "time/figures.h"

enum { MOST = 2048 }; /* of an input: each figure is solved for many times */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct plm_card card = {.sms = 28,
                                  .bandwidth_gbs = 360,
                                  .fp32_tflops = 12.7,
                                  .fp16_tflops = 51,
                                  .tensor_cores = 112,
                                  .l2_bytes = 3 << 20,
                                  .max_threads_per_sm = 1536,
                                  .max_blocks_per_sm = 16,
                                  .shared_per_sm = 102400};
    struct plm_speeds kept = {.name = "kept"};
    struct plm_calibration c;
    struct plm_figures figures;
    struct plm_error error = {0};
    int status;
    if (size > MOST)
        return 0;
    for (size_t i = 0; i < PLM_SPEEDS; i++)
        plm_speed_set(&kept, &plm_speed[i], 0.5 * (plm_speed[i].least + plm_speed[i].most));
    status = plm_figures_parse("input", (const char *)data, size, &figures, &error);
    if (!status)
        status = plm_calibrate(&figures, &card, &kept, &c, &error);
    if (status && !error.text[0])
        abort();
    for (size_t i = 0; !status && i < PLM_SPEEDS; i++) {
        const double value = plm_speed_get(&c.speeds, &plm_speed[i]);
        if (!(value >= plm_speed[i].least && value <= plm_speed[i].most))
            abort();
    }
    plm_figures_free(&figures);
    return 0;
}
