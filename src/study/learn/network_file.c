#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "study/estimate/tree_file.h"
#include "study/learn/network.h"

#define VERSION "1"
#define KIND    "plimsoll-network"
#define WHAT    "a file of weights"

enum { NEWEST = 1, VALUES_IN_LINE = 8 };

static const char *const kind_name[] = {
    [PLM_NETWORK_CLASSES] = "classes", [PLM_NETWORK_NUMBER] = "number", [PLM_NETWORK_LOG] = "log"};

/* ---- tensors ---- */

struct plm_tensor *plm_network_add(struct plm_network *n, const char *name, size_t rows, size_t columns)
{
    struct plm_tensor *tensor;
    if (n->tensors == PLM_NETWORK_TENSORS || strlen(name) >= PLM_NETWORK_NAME || !rows || !columns ||
        rows > PLM_NETWORK_VALUES || columns > PLM_NETWORK_VALUES / rows ||
        rows * columns > PLM_NETWORK_VALUES - n->values)
        return NULL;
    n->tensor = plm_grow(n->tensor, n->tensors, &n->tensor_room, sizeof *n->tensor);
    tensor = &n->tensor[n->tensors++];
    *tensor = (struct plm_tensor){.rows = rows, .columns = columns};
    strcpy(tensor->name, name);
    tensor->value = plm_calloc(rows * columns, sizeof *tensor->value);
    n->values += rows * columns;
    return tensor;
}

const struct plm_tensor *plm_network_find(struct plm_network *n, const char *name)
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
    const struct plm_tensor *tensor = plm_network_find(n, name);
    if (!tensor)
        plm_fail(error, PLM_EFORMAT, "the weights of %s lack the tensor %s", n->method, name);
    else if (tensor->rows != rows || tensor->columns != columns) {
        plm_fail(error, PLM_EFORMAT, "the tensor %s has %zu x %zu values, and %s has %zu x %zu there", name,
                 tensor->rows, tensor->columns, n->method, rows, columns);
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
    fprintf(out, KIND " " VERSION "\nmethod %s\nfamily %s\ntarget %s\nrows %" PRIu64 "\nseed %" PRIu64 "\n", n->method,
            plm_family_name[n->family], n->target, n->rows, n->seed);
    fprintf(out, "answer %s %zu %.17g %.17g\nlength %zu\n", kind_name[n->kind], n->outputs, n->first, n->width,
            n->length);
    plm_tree_file_put_features(out, n->feature, n->features);
}

static void put_tensor(FILE *out, const struct plm_tensor *t)
{
    const size_t values = t->rows * t->columns;
    fprintf(out, "tensor %s %zu %zu\n", t->name, t->rows, t->columns);
    for (size_t i = 0; i < values; i++)
        fprintf(out, "%.9g%c", (double)t->value[i],
                i % VALUES_IN_LINE == VALUES_IN_LINE - 1 || i + 1 == values ? '\n' : ' ');
}

static void put_body(FILE *out, const struct plm_network *n)
{
    plm_network_put_head(out, n);
    fprintf(out, "folds %" PRIu64 "\nscores %zu\n", n->folds, n->scores);
    for (size_t i = 0; i < n->scores; i++)
        fprintf(out, "score %s %.9g\n", n->score[i].name, n->score[i].value);
    fprintf(out, "tensors %zu\n", n->tensors);
    for (size_t i = 0; i < n->tensors; i++)
        put_tensor(out, &n->tensor[i]);
}

int plm_network_save(FILE *out, const struct plm_network *n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return PLM_EIO;
    put_body(memory, n);
    if (fclose(memory)) {
        free(text);
        return PLM_EIO;
    }
    fwrite(text, 1, size, out);
    fprintf(out, "checksum %08lx\n", crc32(0, (const unsigned char *)text, (unsigned)size));
    free(text);
    return ferror(out) ? PLM_EIO : 0;
}

/* ---- reading ---- */

/* The last line holds the checksum of all bytes before it. */
static int check_sum(const struct plm_tree_file *r)
{
    const size_t line = strlen("checksum 01234567\n"), size = (size_t)(r->end - r->text);
    unsigned long said = 0;
    if (size < line || sscanf(r->end - line, "checksum %8lx", &said) != 1 || r->end[-1] != '\n' ||
        r->end[-(ptrdiff_t)line - 1] != '\n')
        return plm_fail(r->error, PLM_EFORMAT, "%.300s has no checksum at its end: it was cut off, or edited", r->path);
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* what lies behind the checksum is to be reached */
    if (crc32(0, (const unsigned char *)r->text, (unsigned)(size - line)) != said)
        return plm_fail(r->error, PLM_EFORMAT, "%.300s is damaged: its checksum is another one", r->path);
#endif
    return 0;
}

static int read_choice(struct plm_tree_file *r, int word, const char *const *names, size_t count, const char *what,
                       unsigned *value)
{
    for (*value = 0; *value < count; ++*value)
        if (!strcmp(r->word[word], names[*value]))
            return 0;
    return plm_tree_file_wrong(r, what);
}

static int read_answer(struct plm_tree_file *r, struct plm_network *n)
{
    unsigned kind = 0;
    uint64_t outputs = 0;
    int status;
    if ((status = plm_tree_file_expect(r, "answer", 4)) ||
        (status = read_choice(r, 1, kind_name, 3, "an answer is classes, number or log", &kind)) ||
        (status = plm_tree_file_whole(r, 2, 1, PLM_LEARNED_CLASSES, &outputs)) ||
        (status = plm_tree_file_real(r, 3, &n->first)) || (status = plm_tree_file_real(r, 4, &n->width)))
        return status;
    n->kind = (enum plm_network_answer)kind;
    n->outputs = (size_t)outputs;
    if (n->kind == PLM_NETWORK_CLASSES && (n->width <= 0 || n->first < 0))
        return plm_tree_file_wrong(r, "classes start at 0 or above and have a width");
    return n->kind != PLM_NETWORK_CLASSES && outputs != 1 ? plm_tree_file_wrong(r, "a number is one output") : 0;
}

static int read_head(struct plm_tree_file *r, struct plm_network *n)
{
    unsigned family = 0;
    uint64_t length = 0;
    int status;
    if ((status = plm_tree_file_one_name(r, "method", n->method)) || (status = plm_tree_file_expect(r, "family", 1)) ||
        (status = read_choice(r, 1, plm_family_name, PLM_FAMILIES, "a family is mlp, cnn or transformer", &family)) ||
        (status = plm_tree_file_one_name(r, "target", n->target)) ||
        (status = plm_tree_file_one_whole(r, "rows", 0, PLM_TREE_ROWS, &n->rows)) ||
        (status = plm_tree_file_one_whole(r, "seed", 0, UINT64_MAX, &n->seed)) || (status = read_answer(r, n)) ||
        (status = plm_tree_file_one_whole(r, "length", 0, PLM_NETWORK_LENGTH, &length)))
        return status;
    n->family = (enum plm_family)family;
    n->length = (size_t)length;
    return plm_tree_file_features(r, n->feature, &n->features);
}

static int read_scores(struct plm_tree_file *r, struct plm_network *n)
{
    uint64_t scores = 0;
    int status = plm_tree_file_one_whole(r, "folds", 0, 1000, &n->folds);
    if (status == 0)
        status = plm_tree_file_one_whole(r, "scores", 0, PLM_NETWORK_SCORES, &scores);
    for (; status == 0 && n->scores < scores; n->scores++)
        if ((status = plm_tree_file_expect(r, "score", 2)) == 0 &&
            (status = plm_tree_file_name(r, 1, n->score[n->scores].name)) == 0)
            status = plm_tree_file_real(r, 2, &n->score[n->scores].value);
    return status;
}

static int read_values(struct plm_tree_file *r, struct plm_tensor *t)
{
    const size_t values = t->rows * t->columns;
    for (size_t i = 0; i < values; i++) {
        const size_t left = values - i, place = i % VALUES_IN_LINE;
        double value;
        int status = place ? 0 : plm_tree_file_line(r);
        if (status == 0 && !place && (size_t)r->words != (left < VALUES_IN_LINE ? left : VALUES_IN_LINE))
            status = plm_tree_file_wrong(r, "there should be eight numbers, or as many as are left of the tensor");
        if (status == 0)
            status = plm_tree_file_real(r, (int)place, &value);
        if (status)
            return status;
        t->value[i] = (float)value;
    }
    return 0;
}

static int read_tensor(struct plm_tree_file *r, struct plm_network *n)
{
    uint64_t rows = 0, columns = 0;
    struct plm_tensor *tensor;
    int status;
    if ((status = plm_tree_file_expect(r, "tensor", 3)) ||
        (status = plm_tree_file_whole(r, 2, 1, PLM_NETWORK_VALUES, &rows)) ||
        (status = plm_tree_file_whole(r, 3, 1, PLM_NETWORK_VALUES, &columns)))
        return status;
    /* Each value takes two bytes of the file at least: what a file claims to hold is not more than it can. */
    if (rows > (uint64_t)(r->end - r->at) / columns)
        return plm_tree_file_wrong(r, "the file is too short for that tensor");
    tensor = plm_network_add(n, r->word[1], (size_t)rows, (size_t)columns);
    return tensor ? read_values(r, tensor) : plm_tree_file_wrong(r, "there are too many values");
}

static int read_tensors(struct plm_tree_file *r, struct plm_network *n)
{
    uint64_t tensors = 0;
    int status = plm_tree_file_one_whole(r, "tensors", 1, PLM_NETWORK_TENSORS, &tensors);
    while (status == 0 && n->tensors < tensors)
        status = read_tensor(r, n);
    if (status == 0)
        status = plm_tree_file_expect(r, "checksum", 1);
    if (status == 0 && r->at != r->end)
        status = plm_tree_file_wrong(r, "something follows the checksum");
    return status;
}

/* The features of the method, in its order: a question has to have the same. */
static int check_features(const char *path, const struct plm_network_method *method, const struct plm_network *n,
                          struct plm_error *error)
{
    const char *const *name = method->features(n->family);
    for (size_t i = 0; i < n->features || name[i]; i++)
        if (i >= n->features || !name[i] || strcmp(n->feature[i].name, name[i]) != 0)
            return plm_fail(error, PLM_EFORMAT, "%.300s has other features than %s for the family %s", path, n->method,
                            plm_family_name[n->family]);
    if (method->sequence != (n->length > 0))
        return plm_fail(error, PLM_EFORMAT, "%.300s has a sequence of %zu positions, which %s cannot have", path,
                        n->length, n->method);
    if (!plm_target_find(n->target))
        return plm_fail(error, PLM_EFORMAT, "%.300s was trained for '%s', which this plimsoll does not know", path,
                        n->target);
    return 0;
}

static int check_method(const char *path, struct plm_network *n, struct plm_error *error)
{
    const struct plm_network_method *method = plm_network_method_find(n->method);
    struct plm_error why = {0};
    int status;
    if (!method)
        return plm_fail(error, PLM_EFORMAT, "%.300s has weights for '%s', which this plimsoll does not know", path,
                        n->method);
    status = check_features(path, method, n, error);
    if (status == 0 && method->bind(n, &why))
        status = plm_fail(error, PLM_EFORMAT, "%.200s: %.250s", path, why.text);
    return status;
}

int plm_network_load(const char *path, struct plm_network *network, struct plm_error *error)
{
    struct plm_tree_file file;
    int status = plm_tree_file_open(path, WHAT, &file, error);
    *network = (struct plm_network){0};
    /* What kind of file it is comes first: of another one, nobody wants to hear about checksums. */
    if (status == 0)
        status = plm_tree_file_kind(&file, KIND, WHAT, NEWEST);
    if (status == 0)
        status = check_sum(&file);
    if (status == 0)
        status = read_head(&file, network);
    if (status == 0)
        status = read_scores(&file, network);
    if (status == 0)
        status = read_tensors(&file, network);
    plm_tree_file_close(&file);
    if (status == 0)
        status = check_method(path, network, error);
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
