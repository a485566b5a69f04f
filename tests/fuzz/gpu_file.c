/* Files that describe GPUs. */
#include <string.h>

#include "common/error.h"
#include "common/card.h"
#include "fuzz.h"

static const char capabilities[] =
    "[8.6]\nwarp_size = 32\nmax_threads_per_block = 1024\nmax_grid_x = 2147483647\n[9.0]\nwarp_size = 32\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plm_card cards[16];
    struct plm_error error = {0};
    int n;
    fuzz_ini("card.ini", data, size);
    fuzz_ini("capabilities.ini", capabilities, strlen(capabilities));
    n = plm_card_file("card.ini", "capabilities.ini", cards, 16, &error);
    if (n < 0)
        fuzz_sentence(&error);
    for (int i = 0; i < n; i++) {
        const struct plm_card *c = &cards[i];
        MUST(c->name[0] && c->sms > 0 && c->memory_total && c->memory_usable); /* accepted, so usable */
        plm_card_match(c, "NVIDIA GeForce RTX 3060");
        for (int k = 0; k < c->alias_count; k++)
            plm_card_match(c, c->aliases[k]);
    }
    return 0;
}
