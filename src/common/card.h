/*
 * One GPU model or MIG profile, as data/gpus describes it. Read-only after it was loaded; any thread.
 * A figure that its file does not give is 0: no figure here can truly be 0.
 */
#ifndef PLM_CARD_H
#define PLM_CARD_H

#include <stdbool.h>
#include <stdint.h>

struct plm_error;

#define PLM_CARD_ALIASES 12

struct plm_card {
    char id[48];             /* "a100-40gb" or "a100-40gb:1g.5gb" */
    char name[96];           /* what the driver would call it */
    char aliases[PLM_CARD_ALIASES][64];
    int alias_count;
    char class[24];
    char architecture[24];
    int major, minor;        /* compute capability */
    bool mig;
    bool shared_memory;      /* with the system, which takes its part of it */
    uint64_t memory_nominal; /* GB as sold */
    uint64_t memory_total;   /* bytes the runtime reports */
    bool memory_total_assumed;
    uint64_t memory_usable;  /* bytes before an allocation fails */
    bool memory_usable_assumed;
    uint64_t memory_nvml;    /* bytes NVML reports as total, the driver's own part included */
    int sms;
    int clock_mhz, memory_clock_mhz, memory_bus_bits;
    double bandwidth_gbs;
    uint64_t l2_bytes;
    int cuda_cores, tensor_cores;
    double fp64_tflops, fp32_tflops, tf32_tflops, fp16_tflops, bf16_tflops, fp8_tflops;
    int tdp_watts;
    int pcie_generation, pcie_lanes; /* towards the host; a card that shares its memory with the system has none */
    double nvlink_gbs;    /* to other GPUs, both directions together; 0: none, as in any MIG profile */
    double host_link_gbs; /* to the host where that is not PCIe (NVLink-C2C), both directions together */
    /* from data/compute-capabilities.ini */
    int warp_size, max_threads_per_block, max_threads_per_sm, max_blocks_per_sm;
    int registers_per_block, registers_per_sm;
    int shared_per_block, shared_per_block_optin, shared_per_sm, shared_reserved_per_block;
    int max_grid[3], max_block[3];
    int async_engines;
};

/* Reads one GPU file and its MIG profiles into cards[]. Returns their number or a negative PLM_E code. */
int plm_card_file(const char *path, const char *capabilities, struct plm_card *cards, int most,
                  struct plm_error *error);

/*
 * GB/s (10^9 bytes) between host and card in one direction, after the line code: what no copy exceeds. 0: not known, or the
 * card has no link because its memory is the system's. MIG profiles share that of their parent.
 */
double plm_card_host_gbs(const struct plm_card *card);

/*
 * Whether `name` means this card. Case, blanks, dashes and makers' words ("NVIDIA GeForce") do not count, nor "RTX" before
 * the number, nor the memory that the card has anyway. PERHAPS: by the driver's name, which several cards may share, or by
 * the start of its id ("A100"); then all such cards are the choice. SHORT: without the word that tells its series from others
 * ("RTX 6000" of Quadro RTX 6000 and RTX 6000 Ada): never the choice if it is alone, for there are cards that we do not know.
 */
enum plm_card_match { PLM_CARD_OTHER, PLM_CARD_SHORT, PLM_CARD_PERHAPS, PLM_CARD_SAME };
enum plm_card_match plm_card_match(const struct plm_card *card, const char *name);

/* What has such a name and is not NVIDIA's: "a GPU of AMD"; NULL: not known. */
const char *plm_card_maker(const char *name);

#endif
