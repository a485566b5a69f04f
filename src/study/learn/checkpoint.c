/*
 * GPUMemNet's checkpoints, made by PyTorch Lightning: a zip with a pickle, whose "state_dict" names the tensors, and a file
 * for the numbers of each. The pickle is read as data; which numbers a tensor has is taken from the arguments of the call
 * that would make it.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "base/unpickle.h"
#include "base/zip.h"
#include "study/estimate/model_file.h"
#include "study/learn/network.h"

enum { NAME = 160, DIMENSIONS = 3, FOLDER = 100 };
#define UNKNOWN 1e30 /* no feature lies outside of it */

struct checkpoint {
    struct plm_zip zip;
    char folder[FOLDER]; /* of the archive, in which all is */
    struct plm_unpickled *pickle;
    unsigned char *bytes; /* of the pickle */
    uint32_t state;
    struct plm_network *network;
    struct plm_error *error;
};

__attribute__((format(printf, 2, 3))) static int checkpoint_bad(const struct checkpoint *c, const char *format, ...)
{
    char text[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return plm_fail(c->error, PLM_EFORMAT, "this is not a GPUMemNet checkpoint: %s", text);
}

/* ---- opening it ---- */

/* Names that are neither plain nor needed are passed over: they would stand in sentences. */
static bool is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return length > 0;
}

static bool folder_find(struct checkpoint *c)
{
    static const char file[] = "/data.pkl";
    for (size_t i = 0; i < c->zip.entries; i++) {
        const struct plm_zip_entry *e = &c->zip.entry[i];
        const size_t tail = sizeof file - 1;
        if (e->name_length > tail && e->name_length < FOLDER && !memcmp(e->name + e->name_length - tail, file, tail) &&
            is_plain(e->name, e->name_length)) {
            memcpy(c->folder, e->name, e->name_length - tail);
            return true;
        }
    }
    return false;
}

static int part_read(const struct checkpoint *c, const char *name, unsigned char **bytes, size_t *size)
{
    char path[FOLDER + 64];
    const struct plm_zip_entry *e;
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    e = plm_zip_find(&c->zip, path);
    if (!e)
        return checkpoint_bad(c, "%s is not in it", path);
    *size = e->size;
    return plm_zip_read(&c->zip, e, bytes, c->error);
}

static int checkpoint_open(struct checkpoint *c, const void *data, size_t size)
{
    size_t bytes = 0;
    int status = plm_zip_open(data, size, &c->zip, c->error);
    if (status == 0 && !folder_find(c))
        status = checkpoint_bad(c, "PyTorch did not write it");
    if (status == 0)
        status = part_read(c, "data.pkl", &c->bytes, &bytes);
    if (status == 0)
        status = plm_unpickle_calls(c->bytes, bytes, &c->pickle, c->error);
    if (status == 0) {
        c->state = plm_unpickle_find(c->pickle, plm_unpickle_root(c->pickle), "state_dict");
        if (plm_unpickle_type(c->pickle, c->state) != PLM_PICKLED_DICT)
            status = checkpoint_bad(c, "it has no state_dict");
    }
    return status;
}

/* ---- tensors ---- */

/* Items of a tuple that has `count` of them; false if it has another number. */
static bool items_take(const struct checkpoint *c, uint32_t tuple, uint32_t *item, size_t count)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(c->pickle, tuple);
    for (size_t i = 0; i < count; i++)
        if ((item[i] = plm_unpickle_next(c->pickle, &walk)) == PLM_PICKLED_ABSENT)
            return false;
    return plm_unpickle_type(c->pickle, tuple) == PLM_PICKLED_TUPLE;
}

struct stored {
    char file[32];
    uint64_t offset, shape[DIMENSIONS], values;
    size_t dimensions;
    bool floats;
};

static bool shape_take(const struct checkpoint *c, uint32_t sizes, uint32_t strides, struct stored *s)
{
    struct plm_unpickle_walk size = plm_unpickle_begin(c->pickle, sizes),
                             stride = plm_unpickle_begin(c->pickle, strides);
    uint64_t step[DIMENSIONS] = {0}, whole = 1;
    uint32_t item;
    for (s->dimensions = 0; (item = plm_unpickle_next(c->pickle, &size)) != PLM_PICKLED_ABSENT; s->dimensions++)
        if (s->dimensions == DIMENSIONS || !plm_unpickle_unsigned(c->pickle, item, &s->shape[s->dimensions]) ||
            !plm_unpickle_unsigned(c->pickle, plm_unpickle_next(c->pickle, &stride), &step[s->dimensions]))
            return false;
    for (size_t i = s->dimensions; i-- > 0;) {
        if (!s->shape[i] || s->shape[i] > PLM_NETWORK_VALUES || (s->shape[i] > 1 && step[i] != whole))
            return false;
        whole *= s->shape[i];
        if (whole > PLM_NETWORK_VALUES)
            return false;
    }
    s->values = whole;
    return true;
}

/* (_rebuild_tensor_v2, ((storage, kind, file, device, count), offset, sizes, strides, ...)) */
static bool stored_take(const struct checkpoint *c, uint32_t value, struct stored *s)
{
    const struct plm_unpickled *p = c->pickle;
    uint32_t call[2], argument[4], storage[3];
    size_t length;
    const char *file;
    if (!items_take(c, value, call, 2) || !plm_unpickle_is(p, call[0], "torch._utils\n_rebuild_tensor_v2") ||
        !items_take(c, call[1], argument, 4) || !items_take(c, argument[0], storage, 3) ||
        !plm_unpickle_is(p, storage[0], "storage") || !plm_unpickle_unsigned(p, argument[1], &s->offset))
        return false;
    file = plm_unpickle_text(p, storage[2], &length);
    if (!file || length > 16 || !is_plain(file, length))
        return false;
    snprintf(s->file, sizeof s->file, "data/%.*s", (int)length, file);
    s->floats = plm_unpickle_is(p, storage[1], "torch\nFloatStorage");
    return shape_take(c, argument[2], argument[3], s);
}

/* Single precision, lowest byte first, as every machine writes it that plimsoll runs on. */
static int values_read(const struct checkpoint *c, const struct stored *s, struct plm_network_tensor *tensor)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    int status = part_read(c, s->file, &bytes, &size);
    if (status == 0 && (s->offset > size / 4 || s->values > size / 4 - s->offset))
        status = checkpoint_bad(c, "%s is too short", s->file);
    if (status == 0 && bytes)
        memcpy(tensor->value, bytes + 4 * s->offset, 4 * s->values);
    for (size_t i = 0; i < s->values && status == 0; i++)
        if (!(tensor->value[i] > -1e37f && tensor->value[i] < 1e37f))
            status = checkpoint_bad(c, "%s has a value that is not a number", s->file);
    free(bytes);
    return status;
}

static int tensor_add(struct checkpoint *c, const char *name, const struct stored *s)
{
    const size_t columns = s->dimensions > 1 ? (size_t)s->shape[s->dimensions - 1] : 1;
    struct plm_network_tensor *tensor = plm_network_add(c->network, name, (size_t)s->values / columns, columns);
    return tensor ? values_read(c, s, tensor) : checkpoint_bad(c, "it has too many values");
}

/* ---- names ---- */

/* What their code calls a tensor, and what ours does (docs/network.md), after the number of a member. */
static const struct {
    const char *theirs, *ours;
} encoder_names[] = {
    {"embedding.0.weight", "embed.0.weight"},     {"embedding.0.bias", "embed.0.bias"},
    {"embedding.1.weight", "embed.0.scale"},      {"embedding.1.bias", "embed.0.shift"},
    {"embedding.1.running_mean", "embed.0.mean"}, {"embedding.1.running_var", "embed.0.variance"},
    {"embedding.3.weight", "embed.1.weight"},     {"embedding.3.bias", "embed.1.bias"},
    {"embedding.4.weight", "embed.1.scale"},      {"embedding.4.bias", "embed.1.shift"},
    {"embedding.4.running_mean", "embed.1.mean"}, {"embedding.4.running_var", "embed.1.variance"},
    {"positional_encoding", "position"},
};
static const struct {
    const char *theirs, *ours;
} layer_names[] = {
    {"self_attn.in_proj_weight", "in.weight"},
    {"self_attn.in_proj_bias", "in.bias"},
    {"self_attn.out_proj.weight", "out.weight"},
    {"self_attn.out_proj.bias", "out.bias"},
    {"linear1.weight", "first.weight"},
    {"linear1.bias", "first.bias"},
    {"linear2.weight", "second.weight"},
    {"linear2.bias", "second.bias"},
    {"norm1.weight", "norm1.scale"},
    {"norm1.bias", "norm1.shift"},
    {"norm2.weight", "norm2.scale"},
    {"norm2.bias", "norm2.shift"},
};
static const struct {
    const char *theirs, *ours;
} norm_names[] = {{"weight", "scale"}, {"bias", "shift"}, {"running_mean", "mean"}, {"running_var", "variance"}};

/* "NUMBER.", and what follows; NULL if it is none. */
static const char *number_take(const char *text, unsigned *number)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    *number = (unsigned)value;
    return end > text && *end == '.' && value < 10000 && text[0] >= '0' && text[0] <= '9' ? end + 1 : NULL;
}

#define RENAME(table, word, format, ...)                                         \
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)                  \
        if (!strcmp(table[i].theirs, word)) {                                    \
            snprintf(out, PLM_NETWORK_NAME, format, __VA_ARGS__, table[i].ours); \
            return true;                                                         \
        }

/* "3.model.6.weight": of a member Linear, BatchNorm and ReLU in turn, and a Linear at the end. */
static bool member_rename(const struct checkpoint *c, const char *whole, const char *prefix, const char *theirs,
                          char *out)
{
    unsigned member, place;
    const char *word = number_take(theirs, &member);
    char next[NAME];
    if (!word || strncmp(word, "model.", 6) != 0 || !(word = number_take(word + 6, &place)))
        return false;
    if (place % 3 == 1)
        RENAME(norm_names, word, "%smlp.%u.%u.%s", prefix, member, place / 3)
    if (place % 3 || (strcmp(word, "weight") != 0 && strcmp(word, "bias") != 0))
        return false;
    snprintf(next, sizeof next, "%.*s%u.model.%u.running_mean", (int)(theirs - whole), whole, member, place + 1);
    if (plm_unpickle_find(c->pickle, c->state, next) == PLM_PICKLED_ABSENT)
        snprintf(out, PLM_NETWORK_NAME, "%smlp.%u.out.%s", prefix, member, word);
    else
        snprintf(out, PLM_NETWORK_NAME, "%smlp.%u.%u.%s", prefix, member, place / 3, word);
    return true;
}

static bool encoder_rename(const struct checkpoint *c, const char *whole, unsigned encoder, const char *word, char *out)
{
    static const char layers[] = "transformer_encoder.layers.", ends[] = "fc_out.models.";
    char prefix[16];
    unsigned layer;
    RENAME(encoder_names, word, "%u.%s", encoder)
    snprintf(prefix, sizeof prefix, "%u.", encoder);
    if (!strncmp(word, ends, sizeof ends - 1))
        return member_rename(c, whole, prefix, word + sizeof ends - 1, out);
    if (strncmp(word, layers, sizeof layers - 1) != 0 || !(word = number_take(word + sizeof layers - 1, &layer)))
        return false;
    RENAME(layer_names, word, "%u.layer.%u.%s", encoder, layer)
    return false;
}

/* False: the tensor is none that is asked for. */
static bool tensor_rename(const struct checkpoint *c, const char *name, char *out)
{
    static const char models[] = "models.";
    unsigned number;
    const char *word;
    if (strncmp(name, models, sizeof models - 1) != 0)
        return false;
    word = number_take(name + sizeof models - 1, &number);
    if (word && member_rename(c, name, "", name + sizeof models - 1, out))
        return true;
    return word && encoder_rename(c, name, number, word, out);
}

/* ---- all of them ---- */

static int tensors_take(struct checkpoint *c)
{
    struct plm_unpickle_walk walk = plm_unpickle_begin(c->pickle, c->state);
    int status = 0;
    while (status == 0) {
        uint32_t key = plm_unpickle_next(c->pickle, &walk), value = plm_unpickle_next(c->pickle, &walk);
        char theirs[NAME], ours[PLM_NETWORK_NAME];
        struct stored stored = {0};
        size_t length;
        const char *text = plm_unpickle_text(c->pickle, key, &length);
        if (key == PLM_PICKLED_ABSENT)
            break;
        if (!text || length >= NAME)
            continue;
        memcpy(theirs, text, length);
        theirs[length] = '\0';
        if (!tensor_rename(c, theirs, ours))
            continue;
        if (!stored_take(c, value, &stored) || !stored.floats)
            return checkpoint_bad(c, "%.100s is not a plain float32 tensor", theirs);
        status = tensor_add(c, ours, &stored);
    }
    return status;
}

static size_t columns_of(struct plm_network *n, const char *name)
{
    const struct plm_network_tensor *tensor = plm_network_find(n, name);
    return tensor ? tensor->columns : 0;
}

static size_t rows_of(struct plm_network *n, const char *name)
{
    const struct plm_network_tensor *tensor = plm_network_find(n, name);
    return tensor ? tensor->rows : 0;
}

/* The family whose features, and tokens, are so many; false if there is none. */
static bool family_guess(const struct plm_architecture *own, size_t features, size_t token, enum plm_family *family)
{
    for (unsigned i = 0; i < PLM_FAMILIES; i++) {
        const char *const *name = own->features((enum plm_family)i);
        size_t count = 0;
        while (name[count])
            count++;
        *family = (enum plm_family)i;
        if (count == features && (!own->sequence || plm_gpumemnet_token_width(*family) == token))
            return true;
    }
    return false;
}

static int network_name(struct checkpoint *c, int bin)
{
    struct plm_network *n = c->network;
    const size_t width = rows_of(n, "0.embed.0.weight"), token = columns_of(n, "0.embed.0.weight");
    const char *first = width ? "0.mlp.0.0.weight" : "mlp.0.0.weight",
               *last = width ? "0.mlp.0.out.weight" : "mlp.0.out.weight";
    const size_t inputs = columns_of(n, first);
    const struct plm_method *method = width ? &plm_method_gpumemnet_transformer : &plm_method_gpumemnet_mlp;
    const struct plm_architecture *own = plm_architecture_of(method);
    const char *const *name;
    if (inputs <= width || !family_guess(own, inputs - width, token, &n->family))
        return checkpoint_bad(c, "no family of networks has %zu features", inputs > width ? inputs - width : 0);
    n->method = method;
    snprintf(n->target, sizeof n->target, "measured_device_mib");
    n->kind = PLM_NETWORK_CLASSES;
    n->outputs = rows_of(n, last);
    n->length = rows_of(n, "0.position");
    n->width = 1000. * (bin ? bin : n->family == PLM_FAMILY_MLP ? 1 : 8);
    n->first = n->family == PLM_FAMILY_MLP ? 1000 : 0;
    for (name = own->features(n->family); name[n->features]; n->features++) {
        snprintf(n->feature[n->features].name, sizeof n->feature[0].name, "%s", name[n->features]);
        n->feature[n->features].low = -UNKNOWN;
        n->feature[n->features].high = UNKNOWN;
    }
    if (!n->outputs || n->outputs > PLM_LEARNED_CLASSES || n->length > PLM_NETWORK_LENGTH)
        return checkpoint_bad(c, "it has %zu classes and %zu positions", n->outputs, n->length);
    return own->bind(n, c->error);
}

int plm_checkpoint_read(const char *path, int bin, struct plm_network *network, struct plm_error *error)
{
    struct plm_error why = {0};
    struct checkpoint c = {.network = network, .error = &why};
    struct plm_model_file file;
    int status = plm_model_file_bytes(path, "a checkpoint", &file, error);
    *network = (struct plm_network){0};
    if (status)
        return status;
    status = checkpoint_open(&c, file.text, (size_t)(file.end - file.text));
    if (status == 0)
        status = tensors_take(&c);
    if (status == 0)
        status = network_name(&c, bin);
    plm_unpickle_free(c.pickle);
    free(c.bytes);
    plm_zip_close(&c.zip);
    plm_model_file_close(&file);
    if (status) {
        plm_network_free(network);
        plm_fail(error, status, "%.200s: %.300s", path, why.text);
    }
    return status;
}
