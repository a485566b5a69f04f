/* plimsoll.ini: settings of every type. */
#include <stdlib.h>

#include "common/error.h"
#include "base/options.h"
#include "fuzz.h"

struct values {
    bool flag;
    const char *text;
    int number;
    uint64_t bytes;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct plm_option options[] = {
        {"bounded", 0, PLM_OPTION_FLAG, offsetof(struct values, flag), .configurable = true},
        {"gpu", 'g', PLM_OPTION_TEXT, offsetof(struct values, text), .configurable = true},
        {"steps", 's', PLM_OPTION_NUMBER, offsetof(struct values, number), .configurable = true},
        {"limit", 0, PLM_OPTION_SIZE, offsetof(struct values, bytes), .configurable = true},
        {0},
    };
    struct values v = {0};
    struct plm_error error = {0};
    int rest;
    fuzz_ini("plimsoll.ini", data, size);
    if (plm_options_parse(options, &v, "run", 0, NULL, &rest, &error))
        fuzz_sentence(&error);
    else
        MUST(v.number >= 0 && rest == 0);
    return 0;
}
