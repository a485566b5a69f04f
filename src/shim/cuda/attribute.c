#include <stddef.h>
#include <string.h>

#include "shim/cuda/driver.h"

/*
 * Device attributes: a constant, a field of the card, or a short computation. Values that every card
 * of compute capability 6.0 and later shares are constants (texture and surface limits, alignments).
 * What this device cannot do is 0, so that applications take the path that works here.
 */

typedef int compute(const struct plm_card *card, int device);

struct attribute {
    enum { UNKNOWN, CONSTANT, FIELD, COMPUTED } kind;
    int value;        /* the constant */
    size_t offset;    /* of the field */
    compute *compute;
};

#define IS(number)      {CONSTANT, (number), 0, NULL}
#define CARD(member)    {FIELD, 0, offsetof(struct plm_card, member), NULL}
#define CALLS(function) {COMPUTED, 0, 0, function}

static int clock_khz(const struct plm_card *card, int device)
{
    (void)device;
    return card->clock_mhz * 1000;
}

static int memory_clock_khz(const struct plm_card *card, int device)
{
    (void)device;
    return card->memory_clock_mhz * 1000;
}

static int l2_bytes(const struct plm_card *card, int device)
{
    (void)device;
    return (int)card->l2_bytes;
}

/* From Ampere on, three quarters of the L2 can be set aside; on consumer cards too. */
static int persisting_l2_bytes(const struct plm_card *card, int device)
{
    (void)device;
    return card->major >= 8 ? (int)(card->l2_bytes / 4 * 3) : 0;
}

static int access_window_bytes(const struct plm_card *card, int device)
{
    (void)device;
    return card->major >= 8 ? 128 << 20 : 0;
}

static int integrated(const struct plm_card *card, int device)
{
    (void)device;
    return !strcmp(card->class, "jetson");
}

static int error_correction(const struct plm_card *card, int device)
{
    (void)device;
    return !strcmp(card->class, "datacenter");
}

static int bus(const struct plm_card *card, int device)
{
    (void)card;
    return plm_cu_bus_of(device);
}

static int async_engines(const struct plm_card *card, int device)
{
    (void)device;
    return card->async_engines ? card->async_engines : 2;
}

/* How many times slower doubles are. The files give both rates for some cards only. */
static int double_ratio(const struct plm_card *card, int device)
{
    (void)device;
    if (card->fp64_tflops > 0 && card->fp32_tflops > 0)
        return (int)(card->fp32_tflops / card->fp64_tflops + 0.5);
    if (!strcmp(card->class, "datacenter") && card->minor == 0 && card->major < 12)
        return 2;
    return card->major >= 8 ? 64 : 32;
}

static int hopper_or_later(const struct plm_card *card, int device)
{
    (void)device;
    return card->major >= 9;
}

static int sync_domains(const struct plm_card *card, int device)
{
    (void)device;
    return card->major >= 9 ? 4 : 1;
}

static const struct attribute attributes[] = {
    [1] = CARD(max_threads_per_block),
    [2] = CARD(max_block[0]),
    [3] = CARD(max_block[1]),
    [4] = CARD(max_block[2]),
    [5] = CARD(max_grid[0]),
    [6] = CARD(max_grid[1]),
    [7] = CARD(max_grid[2]),
    [8] = CARD(shared_per_block),
    [9] = IS(64 * 1024),            /* constant memory */
    [10] = CARD(warp_size),
    [11] = IS(INT32_MAX),           /* pitch of a copy */
    [12] = CARD(registers_per_block),
    [13] = CALLS(clock_khz),
    [14] = IS(512),                 /* texture alignment */
    [15] = IS(1),                   /* copies overlap kernels */
    [16] = CARD(sms),
    [17] = IS(0),                   /* no time limit on kernels */
    [18] = CALLS(integrated),
    [19] = IS(1),                   /* maps host memory */
    [20] = IS(0),                   /* compute mode: default */
    [21] = IS(131072),              /* 21..29: textures of one, two, three dimensions and layered */
    [22] = IS(131072),
    [23] = IS(65536),
    [24] = IS(16384),
    [25] = IS(16384),
    [26] = IS(16384),
    [27] = IS(32768),
    [28] = IS(32768),
    [29] = IS(2048),
    [30] = IS(512),                 /* surface alignment */
    [31] = IS(1),                   /* concurrent kernels */
    [32] = CALLS(error_correction),
    [33] = CALLS(bus),
    [34] = IS(0),                   /* slot on the bus */
    [35] = IS(0),                   /* the TCC driver of Windows */
    [36] = CALLS(memory_clock_khz),
    [37] = CARD(memory_bus_bits),
    [38] = CALLS(l2_bytes),
    [39] = CARD(max_threads_per_sm),
    [40] = CALLS(async_engines),
    [41] = IS(1),                   /* unified addressing */
    [42] = IS(32768),               /* 42..49: more textures */
    [43] = IS(2048),
    [44] = IS(1),
    [45] = IS(32768),
    [46] = IS(32768),
    [47] = IS(8192),
    [48] = IS(8192),
    [49] = IS(32768),
    [50] = IS(0),                   /* PCI domain */
    [51] = IS(32),                  /* texture pitch alignment */
    [52] = IS(32768),               /* 52..68: cube maps and surfaces */
    [53] = IS(32768),
    [54] = IS(2046),
    [55] = IS(32768),
    [56] = IS(131072),
    [57] = IS(65536),
    [58] = IS(16384),
    [59] = IS(16384),
    [60] = IS(16384),
    [61] = IS(32768),
    [62] = IS(2048),
    [63] = IS(32768),
    [64] = IS(32768),
    [65] = IS(2048),
    [66] = IS(32768),
    [67] = IS(32768),
    [68] = IS(2046),
    [69] = IS(268435456),           /* 69..74: linear and mipmapped textures */
    [70] = IS(131072),
    [71] = IS(65000),
    [72] = IS(2097120),
    [73] = IS(32768),
    [74] = IS(32768),
    [75] = CARD(major),
    [76] = CARD(minor),
    [77] = IS(32768),
    [78] = IS(1),                   /* stream priorities */
    [79] = IS(1),                   /* caching in L1: global and local memory */
    [80] = IS(1),
    [81] = CARD(shared_per_sm),
    [82] = CARD(registers_per_sm),
    [83] = IS(1),                   /* managed memory */
    [84] = IS(0),                   /* board with more than one GPU, and which */
    [85] = IS(0),
    [86] = IS(0),                   /* atomics over the bus */
    [87] = CALLS(double_ratio),
    [88] = IS(0),                   /* pageable host memory from the device */
    [89] = IS(1),                   /* managed memory from both sides at once */
    [90] = IS(1),                   /* compute preemption */
    [91] = IS(1),                   /* registered memory keeps its host address */
    [92] = IS(1),                   /* 92..94: stream memory operations, first edition */
    [93] = IS(1),
    [94] = IS(1),
    [95] = IS(1),                   /* cooperative launch */
    [96] = IS(0),                   /* the same on several devices: refused */
    [97] = CARD(shared_per_block_optin),
    [98] = IS(0),                   /* flushing of remote writes */
    [99] = IS(1),                   /* registering host memory */
    [100] = IS(0),
    [101] = IS(0),                  /* managed memory in place from the host */
    [102] = IS(1),                  /* virtual memory management */
    [103] = IS(1),                  /* sharing by file descriptor */
    [104] = IS(0),                  /* 104, 105: by handles of Windows */
    [105] = IS(0),
    [106] = CARD(max_blocks_per_sm),
    [107] = IS(0),                  /* compressible memory */
    [108] = CALLS(persisting_l2_bytes),
    [109] = CALLS(access_window_bytes),
    [110] = IS(0),                  /* RDMA with virtual memory management */
    [111] = CARD(shared_reserved_per_block),
    [112] = IS(0),                  /* sparse arrays */
    [113] = IS(1),                  /* read-only registered memory */
    [114] = IS(0),                  /* timeline semaphores from outside */
    [115] = IS(1),                  /* memory pools */
    [116] = IS(0),                  /* 116..118: RDMA */
    [117] = IS(0),
    [118] = IS(0),
    [119] = IS(0),                  /* ways to share a pool: none */
    [120] = CALLS(hopper_or_later), /* clusters */
    [121] = IS(0),                  /* arrays mapped later */
    [122] = IS(1),                  /* 122, 123: stream memory operations */
    [123] = IS(1),
    [124] = IS(0),                  /* dma-buf */
    [125] = IS(1),                  /* events between processes */
    [126] = CALLS(sync_domains),
    [127] = CALLS(hopper_or_later), /* tensor maps */
    [128] = IS(0),                  /* sharing over a fabric */
    [129] = IS(0),                  /* function pointers valid on all devices */
    [130] = IS(0),                  /* 130, 131: device memory is no NUMA node */
    [131] = IS(-1),
    [132] = IS(0),                  /* multicast */
    [133] = IS(0),                  /* MPS */
    [134] = IS(0),                  /* nearest NUMA node of the host */
    [135] = IS(0),                  /* graphics */
    [136] = IS(0),                  /* 136, 137: decompression engine */
    [137] = IS(0),
    [138] = IS(0),                  /* graphics */
    [139] = IS(0),                  /* 139, 140: PCI identities, not known */
    [140] = IS(0),
    [141] = IS(0),                  /* 141..146: device interfaces for host memory */
    [142] = IS(0),
    [143] = IS(0),
    [144] = IS(0),
    [145] = IS(0),
    [146] = IS(0),
    [147] = IS(0),                  /* 147, 148: atomics over the bus */
    [148] = IS(0),
    [151] = IS(0),                  /* graphics */
};

PLM_API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    const struct plm_card *card;
    const struct attribute *a;

    if (!value || attribute < 1 || (size_t)attribute >= sizeof attributes / sizeof attributes[0])
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device))
        return PLM_CU_INVALID_DEVICE;
    a = &attributes[attribute];
    card = plm_device_card(device);
    if (a->kind == UNKNOWN)
        return PLM_CU_INVALID_VALUE;
    if (a->kind == CONSTANT)
        *value = a->value;
    else if (a->kind == FIELD)
        memcpy(value, (const char *)card + a->offset, sizeof *value);
    else
        *value = a->compute(card, device);
    return 0;
}
