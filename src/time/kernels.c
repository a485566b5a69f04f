#include "time/kernels.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is known by a part of the name; the first that fits counts ---- */

static const struct known {
    const char *part;
    uint8_t class;
    float reads, writes;
} known[] = {
    {"flash_fwd", PLM_WORK_ATTENTION, 0, 0},
    {"flash_bwd_convert", PLM_WORK_ELEMENTWISE, 1, 1},
    {"flash_bwd_dot_do_o", PLM_WORK_REDUCTION, 2, 0},
    {"flash_bwd", PLM_WORK_ATTENTION, 0, 0},
    {"fmha_cutlassF", PLM_WORK_ATTENTION, 0, 0},
    {"fmha_cutlassB", PLM_WORK_ATTENTION, 0, 0},
    {"conv_depthwise", PLM_WORK_DEPTHWISE, 1, 1},
    {"DepthwiseConv", PLM_WORK_DEPTHWISE, 1, 1},
    {"cudnnBatchNormalizationForwardInference", PLM_WORK_NORMALIZATION, 1, 1},
    {"cudnnBatchNormalizationForward", PLM_WORK_NORMALIZATION, 2, 1},
    {"cudnnBatchNormalizationBackward", PLM_WORK_NORMALIZATION, 4, 1},
    {"batch_norm_collect_statistics", PLM_WORK_NORMALIZATION, 1, 0},
    {"batch_norm_transform_input", PLM_WORK_NORMALIZATION, 1, 1},
    {"batch_norm_backward_reduce", PLM_WORK_NORMALIZATION, 2, 0},
    {"batch_norm_backward_elemt", PLM_WORK_NORMALIZATION, 2, 1},
    {"batch_norm_backward", PLM_WORK_NORMALIZATION, 4, 1},
    {"batch_norm", PLM_WORK_NORMALIZATION, 0, 0},
    {"layer_norm_grad_input", PLM_WORK_NORMALIZATION, 2, 1},
    /* Of group norm: they add up what ComputeInternalGradients left for each channel. */
    {"GammaBetaBackwardCUDAKernel1", PLM_WORK_NORMALIZATION, 0, 0},
    {"GammaBetaBackwardCUDAKernel2", PLM_WORK_NORMALIZATION, 0, 0},
    {"GammaBetaBackward", PLM_WORK_NORMALIZATION, 2, 0},
    {"ComputeInternalGradients", PLM_WORK_NORMALIZATION, 2, 0},
    {"RowwiseMoments", PLM_WORK_NORMALIZATION, 1, 0},
    {"FusedParams", PLM_WORK_NORMALIZATION, 0, 0},
    {"layer_norm", PLM_WORK_NORMALIZATION, 1, 1},
    {"LayerNormForward", PLM_WORK_NORMALIZATION, 1, 1},
    {"SpatialSoftMaxForward", PLM_WORK_SOFTMAX, 2, 1},
    {"SpatialSoftMaxBackward", PLM_WORK_SOFTMAX, 3, 1},
    {"softmax_warp_backward", PLM_WORK_SOFTMAX, 2, 1},
    {"SoftMaxBackward", PLM_WORK_SOFTMAX, 2, 1},
    {"softmax", PLM_WORK_SOFTMAX, 1, 1},
    {"SoftMax", PLM_WORK_SOFTMAX, 1, 1},
    {"multi_tensor_apply_kernel", PLM_WORK_LISTS, 1, 1},
    {"reduce_kernel", PLM_WORK_REDUCTION, 1, 1},
    /* Of scatters that sort their indices first: what counts and compacts them goes over the indices alone. */
    {"krn_partial", PLM_WORK_GATHER, 0, 0},
    {"num_of_partial", PLM_WORK_GATHER, 0, 0},
    {"DeviceScan", PLM_WORK_GATHER, 0, 0},
    {"DeviceSelect", PLM_WORK_GATHER, 0, 0},
    {"UniqueByKey", PLM_WORK_GATHER, 0, 0},
    {"RadixSortOnesweep", PLM_WORK_SORT, 1, 1},
    {"RadixSortHistogram", PLM_WORK_SORT, 1, 0},
    {"RadixSortExclusiveSum", PLM_WORK_SORT, 0, 0},
    {"RadixSort", PLM_WORK_SORT, 1, 1},
    {"bitonicSort", PLM_WORK_SORT, 1, 1},
    {"sort", PLM_WORK_SORT, 1, 1},
    {"topk", PLM_WORK_SORT, 1, 1},
    {"TopK", PLM_WORK_SORT, 1, 1},
    {"embedding_backward", PLM_WORK_GATHER, 1, 1},
    {"gather", PLM_WORK_GATHER, 1, 1},
    {"scatter", PLM_WORK_GATHER, 1, 1},
    {"index", PLM_WORK_GATHER, 1, 1},
    {"Index", PLM_WORK_GATHER, 1, 1},
    {"mbedding", PLM_WORK_GATHER, 1, 1},
    {"pool", PLM_WORK_POOLING, 1, 1},
    {"upsample", PLM_WORK_POOLING, 1, 1},
    {"nll_loss", PLM_WORK_REDUCTION, 0, 0},
    {"CatArray", PLM_WORK_ELEMENTWISE, 1, 1},
    {"distribution_", PLM_WORK_ELEMENTWISE, 0, 1},
    {"fused_dropout", PLM_WORK_ELEMENTWISE, 1, 1},
    {"elementwise", PLM_WORK_ELEMENTWISE, 1, 1},
    {"vectorized", PLM_WORK_ELEMENTWISE, 1, 1},
    {"triton_", PLM_WORK_GENERATED, 1, 0},
};

static const struct known *known_part(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strstr(name, known[i].part))
            return &known[i];
    return NULL;
}

/* ---- elements ---- */

/* The number after a text; 0: it is not there. */
static unsigned number_after(const char *name, const char *text)
{
    const char *at = strstr(name, text);
    return at ? (unsigned)strtoul(at + strlen(text), NULL, 10) : 0;
}

static uint8_t element_bytes(const char *name)
{
    if (strstr(name, "HalfE") || strstr(name, "BFloat16") || strstr(name, "6half_t") || strstr(name, "bfloat16_t"))
        return 2;
    return strstr(name, "kernelId") || strstr(name, "IddE") ? 8 : 4;
}

/* "St5arrayIPcLm3E": three pointers. Without them the names of functors tell. */
static uint8_t pointer_count(const char *name)
{
    unsigned count = number_after(name, "arrayIPcLm");
    if (!count)
        count = number_after(name, "arrayIPcLi");
    if (count)
        return (uint8_t)(count < 16 ? count : 16);
    if (strstr(name, "FillFunctor"))
        return 1;
    return strstr(name, "BinaryFunctor") || strstr(name, "CUDAFunctor_add") ? 3 : 2;
}

/* Copies that change the type: those that are named by the type that they make, and those that read whatever there is.
   */
static void cast_form(const char *name, struct plm_time_kernel_form *form)
{
    if (strstr(name, "float16_copy"))
        form->bytes_per = 2, form->from_bytes = 4;
    else if (strstr(name, "float8_copy"))
        form->bytes_per = 1, form->from_bytes = 2;
    else if (strstr(name, "LoadWithCast"))
        form->from_bytes = form->bytes_per == 2 ? 4 : 2;
}

/* ---- by class ---- */

static void attention_form(const char *name, struct plm_time_kernel_form *form)
{
    const char *traits = strstr(name, "kernel_traitsILi");
    form->backward = strstr(name, "bwd") || strstr(name, "cutlassB");
    form->rows = 64;
    if (traits) {
        form->head = (uint16_t)number_after(traits, "kernel_traitsILi");
        traits = strstr(traits, "ELi");
        form->rows = (uint16_t)(traits ? strtoul(traits + 3, NULL, 10) : 128);
    } else {
        const char *shape = strstr(name, "aligned_");
        form->rows = (uint16_t)(shape ? strtoul(shape + strlen("aligned_"), NULL, 10) : 64);
    }
    if (!form->rows)
        form->rows = 64;
}

static void depthwise_form(const char *name, struct plm_time_kernel_form *form)
{
    const unsigned side = number_after(name, "kernelILi");
    form->taps = (uint16_t)(side < 256 ? side * side : 0);
    form->backward = strstr(name, "backward") || strstr(name, "grad_weight");
}

/* "reduce_kernelILi128ELi4E": at most 128 threads, four results each. */
static void reduction_form(const char *name, struct plm_time_kernel_form *form)
{
    const char *threads = strstr(name, "reduce_kernelILi");
    const unsigned columns = threads ? number_after(threads, "ELi") : 0;
    form->columns = (uint8_t)(columns <= 16 ? columns : 0);
}

struct plm_time_kernel_form plm_time_kernel_form(const char *name)
{
    const struct known *k = known_part(name);
    struct plm_time_kernel_form form = {.class = PLM_WORK_OTHER, .reads = 1, .writes = 1};
    form.bytes_per = element_bytes(name);
    form.pointers = pointer_count(name);
    cast_form(name, &form);
    form.strided = strstr(name, "18elementwise_kernel") != NULL;
    if (!k)
        return form;
    form.class = k->class;
    form.reads = k->reads;
    form.writes = k->writes;
    if (form.class == PLM_WORK_ATTENTION)
        attention_form(name, &form);
    else if (form.class == PLM_WORK_DEPTHWISE)
        depthwise_form(name, &form);
    else if (form.class == PLM_WORK_REDUCTION)
        reduction_form(name, &form);
    return form;
}
