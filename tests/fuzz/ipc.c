/*
 * Handles of memory and of events that another process sent: 64 bytes each, behind one that says what is done with them. What
 * is opened is a range of the card's addresses that nothing else has; when all is closed, nothing is left.
 */
#include <sanitizer/lsan_interface.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/ipc.h"
#include "device/space.h"
#include "device/stream.h"
#include "fuzz.h"

enum { OPENED = 16, OWN = 5 << 20, CARDS = 2, LARGEST = 1 << 28 };

static const char card[] = "[gpu]\nname = NVIDIA A10\ncompute_capability = 8.6\nmemory_total = 23609475072\nsms = 72\n"
                           "bandwidth_gbs = 600\ncuda_cores = 9216\nfp32_tflops = 31.2\n";
static const char capabilities[] = "[8.6]\nwarp_size = 32\n";

static uint64_t own; /* an allocation of this process, which no handle may touch */

static void cards_start(void)
{
    setenv("PLIMSOLL_CARD", "card.ini", 1);
    setenv("PLIMSOLL_CAPABILITIES", "capabilities.ini", 1);
    setenv("PLIMSOLL_GPUS", "2", 1);
    setenv("PLIMSOLL_LIMIT", "1073741824", 1);
    fuzz_ini("card.ini", card, strlen(card));
    fuzz_ini("capabilities.ini", capabilities, strlen(capabilities));
    MUST(plm_device_count() == CARDS);
    __lsan_disable(); /* who has it stands in a table that LeakSanitizer does not look into */
    MUST(plm_mem_alloc(0, OWN, &own) == 0 && own);
    __lsan_enable();
}

static uint64_t addresses_free(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < CARDS; i++)
        for (size_t k = 0; k < plm_space_of(i)->gap_count; k++)
            sum += plm_space_of(i)->gaps[k].size;
    return sum;
}

static uint64_t memory_open(const struct plm_ipc_handle *handle)
{
    const uint64_t before = addresses_free();
    struct plm_mem_info info;
    uint64_t address = 0;
    if (plm_ipc_open(handle, &address)) {
        MUST(addresses_free() == before);
        return 0;
    }
    info = plm_mem_query((const void *)address);
    MUST(info.kind == PLM_MEM_DEVICE && info.base == address && info.size && info.size <= plm_space_span());
    MUST(plm_mem_query((const void *)(address + info.size - 1)).base == address);
    MUST(!plm_ipc_exportable(address)); /* it is another's */
    MUST(addresses_free() == before || before - addresses_free() >= info.size);
    return address;
}

static void event_open(const struct plm_ipc_handle *handle)
{
    struct plm_event *event = NULL;
    if (plm_ipc_open_event(handle, &event) == 0)
        MUST(event && plm_event_destroy(event) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { LIVES = 0x80, CLOSES = 0x40 };
    uint64_t opened[OPENED], before;
    struct plm_ipc_handle handle;
    size_t count = 0;
    if (!own)
        cards_start();
    before = addresses_free();
    for (; size > sizeof handle && count < OPENED; size -= 1 + sizeof handle, data += 1 + sizeof handle) {
        memcpy(&handle, data + 1, sizeof handle);
        if (data[0] & LIVES)
            handle.process = 1; /* which is there whenever this runs */
        if (handle.size <= plm_space_span())
            handle.size %= LARGEST; /* each page is written to a table */
        if (data[0] & CLOSES && count)
            MUST(plm_ipc_close(opened[--count]) == 0);
        opened[count] = memory_open(&handle);
        count += opened[count] != 0;
        event_open(&handle);
        MUST(plm_mem_query((const void *)(own + OWN - 1)).base == own);
    }
    while (count)
        MUST(plm_ipc_close(opened[--count]) == 0);
    MUST(addresses_free() == before && plm_ipc_close(own) == PLM_DEV_INVALID);
    return 0;
}
