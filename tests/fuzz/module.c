/*
 * Images of device code. They come without a length: what their own heads vouch for is believed, so the
 * target sees to it that the heads do not vouch for more than there is.
 */
#include "device/module.h"

#include <stdlib.h>
#include <string.h>

#include "common/card.h"
#include "device/device.h"
#include "device/internal.h"
#include "fuzz.h"

/* Which PyTorch runs decides how some kernels lay out their arguments; none does here. */
const struct plm_software *plm_software(void)
{
    static const struct plm_software none;
    return &none;
}

unsigned plm_device_torch_release(void)
{
    return 0;
}

enum { LEAST = 64 }; /* an ELF's head */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t container = 0xba55ed50u, wrapper = 0x466243b1u;
    const struct plm_card cards[] = {{.major = 6}, {.major = 8, .minor = 6}, {.major = 12}};
    size_t room = size + 1 < LEAST ? LEAST : size + 1;
    unsigned char *image = calloc(1, room);
    struct plm_module *module;
    struct plm_kernel *kernel;
    uint32_t magic;
    uint16_t head;
    uint64_t claimed;

    if (!image)
        return 0;
    memcpy(image, data, size); /* a zero ends it */
    memcpy(&magic, image, sizeof magic);
    if (magic == wrapper)
        memset(image + 8, 0, 8); /* points nowhere */
    if (magic == container) {
        memcpy(&head, image + 6, sizeof head);
        head = head > room ? (uint16_t)(head % room) : head;
        memcpy(image + 6, &head, sizeof head);
        memcpy(&claimed, image + 8, sizeof claimed);
        claimed = claimed > room - head ? room - head : claimed;
        memcpy(image + 8, &claimed, sizeof claimed);
    }
    if (plm_module_open(image, &module) == 0) {
        for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++)
            plm_module_runs_on(module, &cards[i]);
        plm_module_kernel(module, "kernel", &kernel);
        plm_module_close(module);
    }
    free(image);
    return 0;
}
