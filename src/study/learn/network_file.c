#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/estimate/model_file.h"
#include "study/learn/network.h"

enum { VALUES_IN_LINE = 8 };

static const char *const kind_name[] = {
    [PLM_NETWORK_CLASSES] = "classes", [PLM_NETWORK_NUMBER] = "number", [PLM_NETWORK_LOG] = "log"};

/* ---- tensors ---- */

struct plm_network_tensor *plm_network_add(struct plm_network *n, const char *name, size_t rows, size_t columns)
{
    struct plm_network_tensor *tensor;
    if (n->tensors == PLM_NETWORK_TENSORS || strlen(name) >= PLM_NETWORK_NAME || !rows || !columns ||
        rows > PLM_NETWORK_VALUES || columns > PLM_NETWORK_VALUES / rows ||
        rows * columns > PLM_NETWORK_VALUES - n->values)
        return NULL;
    n->tensor = plm_grow(n->tensor, n->tensors, &n->tensor_room, sizeof *n->tensor);
    tensor = &n->tensor[n->tensors++];
    *tensor = (struct plm_network_tensor){.rows = rows, .columns = columns};
    strcpy(tensor->name, name);
    tensor->value = plm_calloc(rows * columns, sizeof *tensor->value);
    n->values += rows * columns;
    return tensor;
}

const struct plm_network_tensor *plm_network_find(struct plm_network *n, const char *name)
{
    for (size_t i = 0; i < n->tensors; i++) {
        size_t at = (n->looked_at + i) % n->tensors;
        if (!strcmp(n->tensor[at].name, name)) {
            n->looked_at = at;
            return &n->tensor[at];
        }
    }
    return NULL;
}

const float *plm_network_need(struct plm_network *n, const char *name, size_t rows, size_t columns,
                              struct plm_error *error)
{
    const struct plm_network_tensor *tensor = plm_network_find(n, name);
    if (!tensor)
        plm_fail(error, PLM_EFORMAT, "the weights of %s lack the tensor %s", n->method->name, name);
    else if (tensor->rows != rows || tensor->columns != columns) {
        plm_fail(error, PLM_EFORMAT, "the tensor %s has %zu x %zu values, and %s has %zu x %zu there", name,
                 tensor->rows, tensor->columns, n->method->name, rows, columns);
        tensor = NULL;
    }
    return tensor ? tensor->value : NULL;
}

void plm_network_free(struct plm_network *n)
{
    for (size_t i = 0; i < n->tensors; i++)
        free(n->tensor[i].value);
    free(n->tensor);
    free(n->parts);
    *n = (struct plm_network){0};
}

/* ---- writing ---- */

void plm_network_put_head(FILE *out, const struct plm_network *n)
{
    fprintf(out, "family %s\ntarget %s\nrows %" PRIu64 "\nseed %" PRIu64 "\n", plm_family_name[n->family], n->target,
            n->rows, n->seed);
    fprintf(out, "answer %s %zu %.17g %.17g\nlength %zu\n", kind_name[n->kind], n->outputs, n->first, n->width,
            n->length);
    plm_model_file_put_features(out, n->feature, n->features);
}

static void put_tensor(FILE *out, const struct plm_network_tensor *t)
{
    const size_t values = t->rows * t->columns;
    fprintf(out, "tensor %s %zu %zu\n", t->name, t->rows, t->columns);
    for (size_t i = 0; i < values; i++)
        fprintf(out, "%.9g%c", (double)t->value[i],
                i % VALUES_IN_LINE == VALUES_IN_LINE - 1 || i + 1 == values ? '\n' : ' ');
}

void plm_network_put(FILE *out, const void *network)
{
    const struct plm_network *n = network;
    plm_network_put_head(out, n);
    fprintf(out, "folds %" PRIu64 "\nscores %zu\n", n->folds, n->scores);
    for (size_t i = 0; i < n->scores; i++)
        fprintf(out, "score %s %.9g\n", n->score[i].name, n->score[i].value);
    fprintf(out, "tensors %zu\n", n->tensors);
    for (size_t i = 0; i < n->tensors; i++)
        put_tensor(out, &n->tensor[i]);
}

/* ---- reading ---- */

static int read_choice(struct plm_model_file *r, int word, const char *const *names, size_t count, const char *what,
                       unsigned *value)
{
    for (*value = 0; *value < count; ++*value)
        if (!strcmp(r->word[word], names[*value]))
            return 0;
    return plm_model_file_wrong(r, what);
}

static int read_answer(struct plm_model_file *r, struct plm_network *n)
{
    unsigned kind = 0;
    uint64_t outputs = 0;
    int status;
    if ((status = plm_model_file_expect(r, "answer", 4)) ||
        (status = read_choice(r, 1, kind_name, 3, "an answer is classes, number or log", &kind)) ||
        (status = plm_model_file_whole(r, 2, 1, PLM_LEARNED_CLASSES, &outputs)) ||
        (status = plm_model_file_real(r, 3, &n->first)) || (status = plm_model_file_real(r, 4, &n->width)))
        return status;
    n->kind = (enum plm_network_answer)kind;
    n->outputs = (size_t)outputs;
    if (n->kind == PLM_NETWORK_CLASSES && (n->width <= 0 || n->first < 0))
        return plm_model_file_wrong(r, "classes start at 0 or above and have a width");
    return n->kind != PLM_NETWORK_CLASSES && outputs != 1 ? plm_model_file_wrong(r, "a number is one output") : 0;
}

static int read_head(struct plm_model_file *r, struct plm_network *n)
{
    unsigned family = 0;
    uint64_t length = 0;
    int status;
    if ((status = plm_model_file_expect(r, "family", 1)) ||
        (status = read_choice(r, 1, plm_family_name, PLM_FAMILIES, "a family is mlp, cnn or transformer", &family)) ||
        (status = plm_model_file_one_name(r, "target", n->target)) ||
        (status = plm_model_file_one_whole(r, "rows", 0, PLM_TREE_ROWS, &n->rows)) ||
        (status = plm_model_file_one_whole(r, "seed", 0, UINT64_MAX, &n->seed)) || (status = read_answer(r, n)) ||
        (status = plm_model_file_one_whole(r, "length", 0, PLM_NETWORK_LENGTH, &length)))
        return status;
    n->family = (enum plm_family)family;
    n->length = (size_t)length;
    return plm_model_file_features(r, n->feature, &n->features);
}

static int read_scores(struct plm_model_file *r, struct plm_network *n)
{
    uint64_t scores = 0;
    int status = plm_model_file_one_whole(r, "folds", 0, 1000, &n->folds);
    if (status == 0)
        status = plm_model_file_one_whole(r, "scores", 0, PLM_NETWORK_SCORES, &scores);
    for (; status == 0 && n->scores < scores; n->scores++)
        if ((status = plm_model_file_expect(r, "score", 2)) == 0 &&
            (status = plm_model_file_name(r, 1, n->score[n->scores].name)) == 0)
            status = plm_model_file_real(r, 2, &n->score[n->scores].value);
    return status;
}

static int read_values(struct plm_model_file *r, struct plm_network_tensor *t)
{
    const size_t values = t->rows * t->columns;
    double *value = plm_calloc(values, sizeof *value);
    const int status = plm_model_file_values(r, value, values);
    for (size_t i = 0; i < values && status == 0; i++)
        t->value[i] = (float)value[i];
    free(value);
    return status;
}

static int read_tensor(struct plm_model_file *r, struct plm_network *n)
{
    uint64_t rows = 0, columns = 0;
    struct plm_network_tensor *tensor;
    int status;
    if ((status = plm_model_file_expect(r, "tensor", 3)) ||
        (status = plm_model_file_whole(r, 2, 1, PLM_NETWORK_VALUES, &rows)) ||
        (status = plm_model_file_whole(r, 3, 1, PLM_NETWORK_VALUES, &columns)))
        return status;
    /* Each value takes two bytes of the file at least: what a file claims to hold is not more than it can. */
    if (rows > (uint64_t)(r->end - r->at) / columns)
        return plm_model_file_wrong(r, "the file is too short for that tensor");
    tensor = plm_network_add(n, r->word[1], (size_t)rows, (size_t)columns);
    return tensor ? read_values(r, tensor) : plm_model_file_wrong(r, "there are too many values");
}

static int read_tensors(struct plm_model_file *r, struct plm_network *n)
{
    uint64_t tensors = 0;
    int status = plm_model_file_one_whole(r, "tensors", 1, PLM_NETWORK_TENSORS, &tensors);
    while (status == 0 && n->tensors < tensors)
        status = read_tensor(r, n);
    return status ? status : plm_model_file_end(r);
}

/* The features of the method, in its order: a question has to have the same. */
static int check_features(const char *path, const struct plm_network *n, struct plm_error *error)
{
    const struct plm_architecture *own = plm_architecture_of(n->method);
    const char *const *name = own->features(n->family);
    for (size_t i = 0; i < n->features || name[i]; i++)
        if (i >= n->features || !name[i] || strcmp(n->feature[i].name, name[i]) != 0)
            return plm_fail(error, PLM_EFORMAT, "%.300s has other features than %s for the family %s", path,
                            n->method->name, plm_family_name[n->family]);
    if (own->sequence != (n->length > 0))
        return plm_fail(error, PLM_EFORMAT, "%.300s has a sequence of %zu positions, which %s cannot have", path,
                        n->length, n->method->name);
    if (!plm_target_find(n->target))
        return plm_fail(error, PLM_EFORMAT, "%.300s was trained for '%s', which this plimsoll does not know", path,
                        n->target);
    return 0;
}

int plm_network_read(const struct plm_method *method, struct plm_model_file *file, struct plm_network *network)
{
    struct plm_error why = {0};
    int status;
    *network = (struct plm_network){.method = method};
    status = read_head(file, network);
    if (status == 0)
        status = read_scores(file, network);
    if (status == 0)
        status = read_tensors(file, network);
    if (status == 0)
        status = check_features(file->path, network, file->error);
    if (status == 0 && plm_architecture_of(method)->bind(network, &why))
        status = plm_fail(file->error, PLM_EFORMAT, "%.200s: %.250s", file->path, why.text);
    if (status)
        plm_network_free(network);
    return status;
}

/* ---- what outputs mean ---- */

static void answer_classes(const struct plm_network *n, const double *output, struct plm_learned_answer *a)
{
    double largest = output[0], sum = 0;
    size_t best = 0;
    for (size_t i = 0; i < n->outputs; i++) {
        best = output[i] > largest ? i : best;
        largest = fmax(largest, output[i]);
    }
    for (size_t i = 0; i < n->outputs; i++) {
        a->probability[i] = exp(output[i] - largest);
        sum += a->probability[i];
    }
    for (size_t i = 0; i <= n->outputs; i++)
        a->edge[i] = n->first + (double)i * n->width;
    for (size_t i = 0; i < n->outputs; i++)
        a->probability[i] /= sum;
    a->classes = n->outputs;
    a->figure = a->edge[best + 1];
}

void plm_network_answer(const struct plm_network *n, const double *raw, struct plm_learned_answer *a)
{
    const struct plm_target *target = plm_target_find(n->target);
    double output[PLM_LEARNED_CLASSES] = {0};
    /* Weights of foreign origin may lead anywhere; an answer is a number nevertheless. */
    for (size_t i = 0; i < n->outputs; i++)
        output[i] = isnan(raw[i]) ? 0 : fmax(fmin(raw[i], 1e30), -1e30);
    memcpy(a->target, n->target, sizeof a->target);
    a->unit = target->unit;
    a->with_context = target->with_context;
    a->classes = 0;
    if (n->kind == PLM_NETWORK_CLASSES)
        answer_classes(n, output, a);
    else {
        a->figure = n->first + n->width * output[0];
        if (n->kind == PLM_NETWORK_LOG)
            a->figure = exp(fmin(a->figure, 60));
        a->figure = fmax(a->figure, 0);
    }
}
