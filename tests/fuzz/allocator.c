/* The allocator simulator: settings from the first line, then operations of three bytes each, many of them invalid. */
#include "allocator/allocator.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "fuzz.h"

enum { BLOCKS = 64 };

/* Sizes of every kind: small ones, near powers of 2, and up to the largest number. */
static uint64_t size_of(uint8_t kind, uint8_t value)
{
    uint64_t power = 1ull << (kind & 63);
    return power - 1 + value * (power >> 8 ? power >> 8 : 1);
}

static int operate(struct plm_allocator *a, uint64_t block[BLOCKS], const uint8_t *op)
{
    uint64_t *at = &block[op[1] % BLOCKS], address;
    int status;
    switch (op[0] % 8) {
    case 0:
    case 1:
        status = plm_allocator_malloc(a, size_of(op[1], op[2]), op[2] % 3, op[0] & 8 ? op[2] % 4 : 0, &address);
        if (status == 0)
            block[op[2] % BLOCKS] = address;
        return status;
    case 2: return plm_allocator_free(a, *at + (op[0] & 8 ? op[2] : 0));
    case 3: return plm_allocator_record_stream(a, *at, op[2] % 5);
    case 4: return plm_allocator_empty_cache(a);
    case 5: return plm_allocator_pool_begin(a, op[1] % 4);
    case 6: return op[2] & 1 ? plm_allocator_pool_end(a, op[1] % 4) : plm_allocator_pool_release(a, op[1] % 4);
    default: return plm_allocator_set_fraction(a, (op[1] - 10) / 200.0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_allocator_options o = {.total = 1ull << 33};
    struct plm_error error = {0};
    struct plm_allocator *a;
    uint64_t block[BLOCKS] = {0};
    const uint8_t *end = memchr(data, '\n', size);
    char *text = end ? strndup((const char *)data, (size_t)(end - data)) : NULL;

    if (!text || end - data > 200) {
        free(text);
        return 0;
    }
    o.torch = (enum plm_torch)(size % PLM_TORCHES);
    o.capacity = size % 5 ? UINT64_MAX : 1ull << 30;
    if (plm_allocator_settings_parse(text, o.torch, &o.settings, &error)) {
        if (!error.text[0])
            abort();
        memset(&o.settings, 0, sizeof o.settings);
        plm_allocator_settings_parse(NULL, o.torch, &o.settings, NULL);
    }
    free(text);
    if (plm_allocator_new(&o, &a))
        return 0;
    size = (size_t)(data + size - end - 1);
    for (size_t i = 0; i + 3 <= size && i < 3000; i += 3) {
        int status = operate(a, block, end + 1 + i);
        if (strcmp(plm_allocator_error_name(status), "unknown error") == 0 || !plm_allocator_is_valid(a))
            abort();
    }
    plm_allocator_delete(a);
    return 0;
}
