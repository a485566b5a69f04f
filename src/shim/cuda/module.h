/*
 * Modules as the driver hands them out. A module is the device's struct plm_module; what the driver
 * knows beyond that (names in the image, variables that were asked for) hangs on a list here, looked
 * up only by rare calls. Any thread.
 */
#ifndef PLM_CUDA_MODULE_H
#define PLM_CUDA_MODULE_H

#include <stddef.h>

#include "device/module.h"

struct plm_cu_names {
    char **name;
    unsigned count;
    bool known; /* false: packed code, the names cannot be read */
};

/* The kernels of a cubin or PTX text. Never fails: what cannot be read is not known. */
void plm_cu_names_read(const void *image, struct plm_cu_names *out);
void plm_cu_names_free(struct plm_cu_names *names);

/* Opens an image. PLM_CU_NO_BINARY if it has no code for `card`, which may be NULL: not asked now. */
int plm_cu_module_open(const void *image, const struct plm_card *card, struct plm_module **out);
int plm_cu_module_open_file(const char *path, const struct plm_card *card, struct plm_module **out);
/* A whole file with NULs behind it, since it may be PTX; the caller frees it. NULL if unreadable. */
char *plm_cu_read_file(const char *path, size_t *length);
/* Buffers that the application gave for the compiler's messages are given back empty. */
void plm_cu_empty_messages(unsigned count, const int *options, void **values);
int plm_cu_module_close(struct plm_module *module);
int plm_cu_module_count(struct plm_module *module, unsigned *count, const char *caller);
int plm_cu_module_list(struct plm_module *module, struct plm_kernel **out, unsigned count, const char *caller);
int plm_cu_module_variable(struct plm_module *module, const char *name, bool managed, uint64_t *address, size_t *size);

/* ---- function.c ---- */
int plm_cu_function_get(const struct plm_kernel *kernel, int attribute, int device, int *value);
int plm_cu_function_set(struct plm_kernel *kernel, int attribute, int device, int value);

/* ---- occupancy.c ---- */
/* Blocks of that size that fit on one SM at a time; 0 if not even one does. */
int plm_cu_blocks_per_sm(const struct plm_card *card, int block, size_t dynamic_shared);

/* ---- launch.c ---- */
/* The launch configuration of cuLaunchKernelEx, as documented. */
struct plm_cu_launch {
    unsigned grid[3], block[3];
    unsigned shared;
    struct plm_stream *stream;
    const struct plm_cu_launch_attribute *attributes;
    unsigned attribute_count;
};

struct plm_cu_launch_attribute {
    int id;
    char pad[4];
    union {
        unsigned dims[3];
        int flag;
        char room[64];
    } value;
};

enum { PLM_CU_LAUNCH_COOPERATIVE = 2, PLM_CU_LAUNCH_CLUSTER = 4 };

/* The cluster asked for: its number of blocks, 1 if none. */
unsigned plm_cu_cluster_blocks(const struct plm_cu_launch *launch, unsigned dims[3]);

#endif
