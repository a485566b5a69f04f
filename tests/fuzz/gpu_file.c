/* Files that describe GPUs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/card.h"
#include "fuzz.h"

static const char capabilities[] =
    "[8.6]\nwarp_size = 32\nmax_threads_per_block = 1024\nmax_grid_x = 2147483647\n[9.0]\nwarp_size = 32\n";

static const char *capability_file(void)
{
    static char path[64];
    if (!path[0]) {
        int fd = memfd_create("capabilities", MFD_CLOEXEC);
        if (fd < 0 || write(fd, capabilities, strlen(capabilities)) < 0)
            abort();
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct plm_card cards[16];
    struct plm_error error = {0};
    int n = plm_card_file(fuzz_file(data, size), capability_file(), cards, 16, &error);
    if (n < 0 && !error.text[0])
        abort();
    for (int i = 0; i < n; i++) {
        const struct plm_card *c = &cards[i];
        if (!c->name[0] || c->sms <= 0 || !c->memory_total || !c->memory_usable)
            abort(); /* accepted, and not usable */
        plm_card_matches(c, "NVIDIA GeForce RTX 3060");
        for (int k = 0; k < c->alias_count; k++)
            plm_card_matches(c, c->aliases[k]);
    }
    return 0;
}
