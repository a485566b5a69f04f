/*
 * PyTorch's kernels whose arguments say how much they work on, and the layout of their lists of tensors by release. What
 * is read by these is checked against the launch's grid and block (src/device/arguments.c). A list is read far into its
 * argument, so lists of a release that nobody looked at are not read at all. Launches without counts are the worst that
 * can come of it. Constants; any thread.
 */
#ifndef PLM_TORCH_KERNELS_H
#define PLM_TORCH_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum plm_torch_arguments { PLM_TORCH_ELEMENTS, PLM_TORCH_REDUCTION, PLM_TORCH_LISTS };

struct plm_torch_kernel {
    const char *name;           /* at::native::NAME */
    enum plm_torch_arguments arguments;
    uint16_t since;             /* release, as in facts.h */
    const char *seen;
};
const struct plm_torch_kernel *plm_torch_kernel(size_t index); /* NULL after the last */
const struct plm_torch_kernel *plm_torch_kernel_find(const char *name, size_t length);

/* How many tensors and blocks one launch of multi_tensor_apply_kernel holds, by the number of lists less one. */
enum { PLM_TORCH_LISTS_MOST = 5 };
struct plm_torch_lists {
    uint16_t since, until; /* releases, the last that was looked at */
    int cuda; /* and from which CUDA on, 13000 */
    uint16_t tensors[PLM_TORCH_LISTS_MOST], tensors_scalars[PLM_TORCH_LISTS_MOST];
    uint16_t blocks;
    uint8_t index_bytes;        /* of a tensor's number */
};
const struct plm_torch_lists *plm_torch_lists(unsigned release, int cuda); /* NULL: not known */

#endif
