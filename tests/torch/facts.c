/* Prints the tables of src/torch for tools/torch: kind, first and last release, library, name, where seen, what a job
   lacks without it; separated by tabs, "-" where there is none. */
#include <stdio.h>

#include "torch/facts.h"
#include "torch/kernels.h"

static const char *text(const char *value)
{
    return value && *value ? value : "-";
}

int main(void)
{
    static const char *const kinds[] = {"function", "prefix", "layout", "rule"};
    for (int i = 0; i < PLM_TORCH_FACTS; i++) {
        const struct plm_torch_row *r = plm_torch_row((enum plm_torch_fact)i);
        printf("%s\t%u\t%u\t%s\t%s\t%s\t%s\n", r->proved ? "proved" : kinds[r->kind], r->since, r->until,
               text(r->library), r->name, r->seen, text(r->without));
    }
    for (size_t i = 0; plm_torch_kernel(i); i++)
        printf("kernel\t%u\t0\tlibtorch_cuda.so\t%s\t%s\tthe counts of its launches\n", plm_torch_kernel(i)->since,
               plm_torch_kernel(i)->name, plm_torch_kernel(i)->seen);
    printf("layout\t2001\t%u\t-\tlists of tensors\tATen/native/cuda/MultiTensorApply.cuh:depth_to_max_\tthe counts of "
           "multi-tensor launches\n",
           plm_torch_lists(0, 0)->until);
#define SETTING(key, since, parser) printf("setting\t%u\t0\t-\t%s\t-\t-\n", since, #key);
#include "torch/settings.def"
#undef SETTING
    return 0;
}
