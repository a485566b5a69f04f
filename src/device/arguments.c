#include "device/arguments.h"

#include <string.h>

#include "device/internal.h"
#include "torch/kernels.h"

/* ---- names ---- */

/* One identifier of a mangled name, which stands after its length. */
struct word {
    const char *at;
    size_t length;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The identifier at *at, which moves behind it; false if there is none. An L marks internal linkage. */
static bool next_word(const char **at, struct word *word)
{
    const char *p = *at;
    size_t length = 0;
    p += *p == 'L' && is_digit(p[1]);
    if (!is_digit(*p))
        return false;
    for (; is_digit(*p) && length < 4096; p++)
        length = length * 10 + (size_t)(*p - '0');
    if (strnlen(p, length) < length)
        return false;
    *word = (struct word){p, length};
    *at = p + length;
    return true;
}

static bool is(const struct word *word, const char *text)
{
    return word->length == strlen(text) && !memcmp(word->at, text, word->length);
}

/* "_ZN2at6native18elementwise_kernelILi128E...": *function is the kernel, *at what follows the I. */
static bool native_kernel(const char **at, struct word *function)
{
    struct word first, second;
    if (strncmp(*at, "_ZN", 3))
        return false;
    *at += 3;
    if (!next_word(at, &first) || !next_word(at, &second) || !is(&first, "at") || !is(&second, "native") ||
        !next_word(at, function))
        return false;
    while (next_word(at, function)) /* a namespace without a name stands in between */
        continue;
    return *(*at)++ == 'I';
}

/* Bytes of a builtin type by its mangled letter; 0 if it is none of those that scalar lists hold. */
static uint8_t builtin_bytes(char letter)
{
    switch (letter) {
    case 'b':
    case 'a':
    case 'h': return 1;
    case 's': return 2;
    case 'f':
    case 'i': return 4;
    case 'd':
    case 'l': return 8;
    default: return 0;
    }
}

/* The first template argument: "NS1_18TensorListMetadataILi4EEE". */
static bool list_form(const char *at, struct plm_arguments_form *form)
{
    struct word type;
    if (strncmp(at, "NS", 2))
        return false;
    at = strchr(at, '_');
    if (!at || (at++, !next_word(&at, &type)) || *at++ != 'I')
        return false;
    if (is(&type, "FusedOptimizerTensorListMetadata"))
        form->extra = sizeof(void *);
    else if (is(&type, "TensorListScalarListMetadata")) {
        form->extra = builtin_bytes(*at++);
        form->scalars = true;
        if (!form->extra)
            return false;
    } else if (!is(&type, "TensorListMetadata"))
        return false;
    if (strncmp(at, "Li", 2) || !is_digit(at[2]) || at[3] != 'E')
        return false;
    form->lists = (uint8_t)(at[2] - '0');
    return true;
}

struct plm_arguments_form plm_arguments_form(const char *mangled)
{
    static const uint8_t kinds[] = {
        [PLM_TORCH_ELEMENTS] = PLM_COUNT_ELEMENTS,
        [PLM_TORCH_REDUCTION] = PLM_COUNT_REDUCTION,
        [PLM_TORCH_LISTS] = PLM_COUNT_TENSORS,
    };
    struct plm_arguments_form form = {.kind = PLM_COUNT_NONE};
    const struct plm_torch_kernel *kernel;
    struct word function;
    if (!native_kernel(&mangled, &function))
        return form;
    kernel = plm_torch_kernel_find(function.at, function.length);
    if (kernel && (kernel->arguments != PLM_TORCH_LISTS || list_form(mangled, &form)))
        form.kind = kinds[kernel->arguments];
    return form;
}

/* ---- lists of tensors ---- */

enum { CHUNK = 65536 };

struct list {
    const unsigned char *elements, *tensor_of_block, *chunk_of_block;
    uint32_t tensors;
    uint8_t index_bytes;
};

static struct list list_of(const struct plm_arguments_form *form, const struct plm_torch_lists *limits,
                           const void *argument)
{
    const uint16_t *most = form->scalars ? limits->tensors_scalars : limits->tensors;
    const uint32_t tensors = most[form->lists - 1];
    const unsigned char *at = argument;
    size_t elements = form->lists * tensors * sizeof(void *);
    size_t blocks = elements + tensors * (sizeof(int64_t) + form->extra);
    size_t chunks;
    blocks += blocks % limits->index_bytes;
    chunks = (blocks + (size_t)limits->blocks * limits->index_bytes + 3) / 4 * 4;
    return (struct list){at + elements, at + blocks, at + chunks, tensors, limits->index_bytes};
}

static uint32_t tensor_of(const struct list *list, uint32_t block)
{
    uint16_t wide;
    if (list->index_bytes == 1)
        return list->tensor_of_block[block];
    memcpy(&wide, list->tensor_of_block + block * sizeof wide, sizeof wide);
    return wide;
}

static int64_t chunk_of(const struct list *list, uint32_t block)
{
    int32_t chunk;
    memcpy(&chunk, list->chunk_of_block + block * sizeof chunk, sizeof chunk);
    return chunk;
}

/* A block works on one chunk of one tensor. The first tensor may have been begun by the launch before, the
   last may be left to the next; all between are whole. So the blocks are known from the tensors, and must be
   as many as were launched. */
static bool count_tensors(const struct plm_arguments_form *form, const uint32_t grid[3], const void *argument,
                          uint64_t count[2])
{
    const struct plm_torch_lists *limits = plm_torch_lists(plm_device_torch_release(), plm_software()->cuda);
    struct list list;
    uint32_t tensors;
    int64_t first, last, chunks = 0, sum = 0, elements = 0;

    if (!limits || !form->lists || form->lists > PLM_TORCH_LISTS_MOST || !grid[0] || grid[0] > limits->blocks)
        return false;
    list = list_of(form, limits, argument);
    tensors = tensor_of(&list, grid[0] - 1) + 1;
    first = chunk_of(&list, 0);
    last = chunk_of(&list, grid[0] - 1);
    if (tensors > list.tensors || first < 0 || last < 0)
        return false;
    for (uint32_t i = 0; i < tensors; i++) {
        memcpy(&elements, list.elements + i * sizeof elements, sizeof elements);
        if (elements < 1 || elements > INT64_MAX / 4096)
            return false;
        sum += elements;
        chunks += (elements + CHUNK - 1) / CHUNK;
    }
    if (elements > (last + 1) * CHUNK) {
        chunks -= (elements + CHUNK - 1) / CHUNK - (last + 1);
        sum -= elements - (last + 1) * CHUNK;
    }
    if (chunks - first != grid[0])
        return false;
    count[0] = (uint64_t)(sum - first * CHUNK);
    count[1] = plm_ev_tensors((uint32_t)tensors, (uint32_t)form->lists);
    return true;
}

/* ---- reductions ---- */

/* The configuration in the argument: it follows the operation and its identity, whose sizes differ, and is
   followed by some hundred bytes of strides. */
struct reduction {
    int32_t element_bytes, inputs, outputs; /* inputs of one output */
    int32_t step_input, step_output, blocks_per_output;
    int32_t input_factor[3], output_factor[2];
    int32_t block_width, block_height, threads;
    uint8_t vectorized, unused[3];
    int32_t outputs_per_thread;
};

static bool agrees(const struct reduction *r, const uint32_t grid[3], const uint32_t block[3])
{
    int64_t vectors;
    if (r->block_width != (int64_t)block[0] || r->block_height != (int64_t)block[1] ||
        r->threads != (int64_t)block[0] * block[1] || r->blocks_per_output != (int64_t)grid[1])
        return false;
    if (r->inputs < 1 || r->outputs < 1 || r->step_output < 1 || r->outputs_per_thread < 1 ||
        r->outputs_per_thread > 16)
        return false;
    vectors = r->outputs / r->outputs_per_thread;
    return (vectors + r->step_output - 1) / r->step_output == (int64_t)grid[0];
}

static bool count_reduction(const uint32_t grid[3], const uint32_t block[3], const void *argument, uint64_t count[2])
{
    enum { FURTHEST = 64 };
    for (size_t at = 0; at <= FURTHEST; at += sizeof(int32_t)) {
        struct reduction r;
        memcpy(&r, (const char *)argument + at, sizeof r);
        if (agrees(&r, grid, block)) {
            count[0] = (uint64_t)r.inputs * (uint64_t)r.outputs;
            count[1] = (uint64_t)r.outputs;
            return true;
        }
    }
    return false;
}

/* ---- elements: the first argument is their number ---- */

static bool count_elements(const void *argument, uint64_t count[2])
{
    int32_t elements;
    memcpy(&elements, argument, sizeof elements);
    count[0] = (uint64_t)elements;
    count[1] = 0;
    return elements > 0;
}

bool plm_arguments_read(const struct plm_arguments_form *form, const uint32_t grid[3], const uint32_t block[3],
                        void *const *arguments, uint64_t count[2])
{
    if (form->kind == PLM_COUNT_NONE || !arguments || !arguments[0])
        return false;
    switch (form->kind) {
    case PLM_COUNT_ELEMENTS: return count_elements(arguments[0], count);
    case PLM_COUNT_TENSORS: return count_tensors(form, grid, arguments[0], count);
    case PLM_COUNT_REDUCTION: return count_reduction(grid, block, arguments[0], count);
    default: return false;
    }
}
