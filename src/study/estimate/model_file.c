#include "study/estimate/model_file.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "common/error.h"
#include "common/input.h"
#include "base/memory.h"

#define HEAD "plimsoll-model"

enum { MOST_BYTES = 1 << 29, VERSION = 1, VALUES_IN_LINE = 8 };
_Static_assert((int)VALUES_IN_LINE <= (int)PLM_MODEL_FILE_WORDS, "a line has room for the values");

/* ---- writing ---- */

void plm_model_file_put_features(FILE *out, const struct plm_tree_feature *feature, size_t features)
{
    fprintf(out, "features %zu\n", features);
    for (size_t i = 0; i < features; i++)
        fprintf(out, "feature %s %.17g %.17g %.17g\n", feature[i].name, feature[i].low, feature[i].high,
                feature[i].importance);
}

static void put_node(FILE *out, const struct plm_tree_node *node)
{
    if (node->feature < 0)
        fprintf(out, "leaf %.17g\n", node->value);
    else
        fprintf(out, "split %d %.17g\n", node->feature, node->value);
}

void plm_model_file_put_trees(FILE *out, const struct plm_trees *t)
{
    fprintf(out, "trees %zu\n", t->count);
    for (size_t i = 0; i < t->count; i++) {
        size_t end = i + 1 < t->count ? t->root[i + 1] : t->nodes;
        fprintf(out, "tree %zu\n", end - t->root[i]);
        for (size_t n = t->root[i]; n < end; n++)
            put_node(out, &t->node[n]);
    }
    fputs("end\n", out);
}

static uint32_t sum_of(const char *text, size_t size)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), (const unsigned char *)text, size);
}

void plm_model_file_put_values(FILE *out, const double *value, size_t values)
{
    for (size_t i = 0; i < values; i++)
        fprintf(out, "%.17g%c", value[i], i % VALUES_IN_LINE == VALUES_IN_LINE - 1 || i + 1 == values ? '\n' : ' ');
}

int plm_model_file_save(FILE *out, const char *kind, void (*put)(FILE *out, const void *what), const void *what)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    int status = memory ? 0 : PLM_EIO;
    if (memory) {
        put(memory, what);
        status = ferror(memory) ? PLM_EIO : 0;
        if (fclose(memory))
            status = PLM_EIO;
    }
    if (status == 0) {
        fprintf(out, HEAD " %d %s %08" PRIx32 " %zu\n", VERSION, kind, sum_of(text, size), size);
        fwrite(text, 1, size, out);
    }
    free(text);
    return status || ferror(out) ? PLM_EIO : 0;
}

/* ---- lines and words ---- */

int plm_model_file_wrong(const struct plm_model_file *r, const char *what)
{
    return plm_fail(r->error, PLM_EFORMAT, "%.300s:%u: %s", r->path, r->line, what);
}

/* One line into words. */
int plm_model_file_line(struct plm_model_file *r)
{
    r->line++;
    r->words = 0;
    if (r->at == r->end)
        return plm_model_file_wrong(r, "the file ends too early");
    while (r->at < r->end && *r->at != '\n') {
        size_t length = 0;
        if (r->words == PLM_MODEL_FILE_WORDS)
            return plm_model_file_wrong(r, "the line has too many words");
        while (r->at < r->end && *r->at > ' ' && *r->at < 127 && length < PLM_MODEL_FILE_WORD - 1)
            r->word[r->words][length++] = *r->at++;
        r->word[r->words++][length] = '\0';
        if (!length || (r->at < r->end && *r->at != ' ' && *r->at != '\n'))
            return plm_model_file_wrong(r, "expected words separated by one space");
        if (r->at < r->end && *r->at == ' ' && ++r->at < r->end && *r->at == '\n')
            return plm_model_file_wrong(r, "expected words separated by one space");
    }
    if (r->at == r->end)
        return plm_model_file_wrong(r, "the file ends in the middle of a line");
    r->at++;
    return 0;
}

/* The next line, which is this key with that many values. */
int plm_model_file_expect(struct plm_model_file *r, const char *key, int values)
{
    char text[100];
    int status = plm_model_file_line(r);
    if (status)
        return status;
    if (r->words == values + 1 && !strcmp(r->word[0], key))
        return 0;
    snprintf(text, sizeof text, "expected \"%s\" with %d value%s", key, values, values == 1 ? "" : "s");
    return plm_model_file_wrong(r, text);
}

int plm_model_file_real(const struct plm_model_file *r, int word, double *value)
{
    const char *text = r->word[word];
    char *end;
    *value = strtod(text, &end);
    if (strspn(text, "0123456789+-.eE") != strlen(text) || end == text || *end || !(fabs(*value) < FLT_MAX))
        return plm_model_file_wrong(r, "expected a number");
    return 0;
}

int plm_model_file_whole(const struct plm_model_file *r, int word, uint64_t least, uint64_t most, uint64_t *value)
{
    const char *text = r->word[word];
    char *end, sentence[120];
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (strspn(text, "0123456789") == strlen(text) && !*end && !errno && *value >= least && *value <= most)
        return 0;
    snprintf(sentence, sizeof sentence, "expected a whole number from %" PRIu64 " to %" PRIu64, least, most);
    return plm_model_file_wrong(r, sentence);
}

int plm_model_file_name(const struct plm_model_file *r, int word, char out[PLM_TREE_NAME])
{
    size_t length = strlen(r->word[word]);
    if (length >= PLM_TREE_NAME)
        return plm_model_file_wrong(r, "a name is too long");
    memcpy(out, r->word[word], length + 1);
    return 0;
}

int plm_model_file_range(const struct plm_model_file *r, int word, double *low, double *high)
{
    int status = plm_model_file_real(r, word, low);
    if (status == 0)
        status = plm_model_file_real(r, word + 1, high);
    if (status == 0 && *low > *high)
        status = plm_model_file_wrong(r, "the lower end is above the upper end");
    return status;
}

int plm_model_file_one_whole(struct plm_model_file *r, const char *key, uint64_t least, uint64_t most, uint64_t *value)
{
    int status = plm_model_file_expect(r, key, 1);
    return status ? status : plm_model_file_whole(r, 1, least, most, value);
}

int plm_model_file_one_name(struct plm_model_file *r, const char *key, char out[PLM_TREE_NAME])
{
    int status = plm_model_file_expect(r, key, 1);
    return status ? status : plm_model_file_name(r, 1, out);
}

int plm_model_file_values(struct plm_model_file *r, double *value, size_t values)
{
    int status = 0;
    for (size_t i = 0; i < values && status == 0; i++) {
        const size_t left = values - i, place = i % VALUES_IN_LINE;
        if (!place)
            status = plm_model_file_line(r);
        if (status == 0 && !place && (size_t)r->words != (left < VALUES_IN_LINE ? left : VALUES_IN_LINE))
            status = plm_model_file_wrong(r, "expected eight numbers, or as many as are left");
        if (status == 0)
            status = plm_model_file_real(r, (int)place, &value[i]);
    }
    return status;
}

int plm_model_file_end(const struct plm_model_file *r)
{
    return r->at == r->end ? 0 : plm_model_file_wrong(r, "something follows the end");
}

/* ---- features and trees ---- */

static int read_feature(struct plm_model_file *r, struct plm_tree_feature *feature)
{
    int status = plm_model_file_expect(r, "feature", 4);
    if (status == 0)
        status = plm_model_file_name(r, 1, feature->name);
    if (status == 0)
        status = plm_model_file_range(r, 2, &feature->low, &feature->high);
    if (status == 0)
        status = plm_model_file_real(r, 4, &feature->importance);
    if (status == 0 && !(feature->importance >= 0 && feature->importance <= 1.000001))
        status = plm_model_file_wrong(r, "an importance must be from 0 to 1");
    return status;
}

int plm_model_file_features(struct plm_model_file *r, struct plm_tree_feature feature[PLM_TREE_FEATURES],
                            size_t *features)
{
    uint64_t number = 0;
    int status = plm_model_file_one_whole(r, "features", 1, PLM_TREE_FEATURES, &number);
    for (*features = 0; *features < number && status == 0; ++*features)
        status = read_feature(r, &feature[*features]);
    return status;
}

/* What nodes have to keep to, and what is still open of the tree that is read. */
struct frame {
    size_t features;
    double low, high; /* of leaves */
    uint32_t *open;   /* splits that have no right branch yet */
    size_t opens, open_room;
};

static int read_node(struct plm_model_file *r, const struct frame *f, struct plm_tree_node *node)
{
    uint64_t feature = 0;
    int status = plm_model_file_line(r);
    if (status)
        return status;
    *node = (struct plm_tree_node){.feature = -1};
    if (r->words == 2 && !strcmp(r->word[0], "leaf")) {
        status = plm_model_file_real(r, 1, &node->value);
        if (status == 0 && (node->value < f->low || node->value > f->high))
            status = plm_model_file_wrong(r, "a leaf is outside the target's range");
        return status;
    }
    if (r->words != 3 || strcmp(r->word[0], "split") != 0)
        return plm_model_file_wrong(r, "expected \"leaf\" with one value or \"split\" with two");
    status = plm_model_file_whole(r, 1, 0, f->features - 1, &feature);
    node->feature = (int32_t)feature;
    return status ? status : plm_model_file_real(r, 2, &node->value);
}

/* Who a node belongs to follows from the order alone: what comes after a leaf is the right branch of the last split
   that has none. So no file can describe a circle. */
static void place_node(struct frame *f, struct plm_trees *t, const struct plm_tree_node *node, bool follows_leaf)
{
    t->node = plm_grow(t->node, t->nodes, &t->node_room, sizeof *t->node);
    f->open = plm_grow(f->open, f->opens, &f->open_room, sizeof *f->open);
    if (follows_leaf)
        t->node[f->open[--f->opens]].right = (uint32_t)t->nodes;
    if (node->feature >= 0)
        f->open[f->opens++] = (uint32_t)t->nodes;
    t->node[t->nodes++] = *node;
}

static int read_tree(struct plm_model_file *r, struct frame *f, struct plm_trees *t)
{
    bool follows_leaf = false;
    uint64_t count = 0;
    int status = plm_model_file_one_whole(r, "tree", 1, PLM_TREE_NODES - t->nodes, &count);
    f->opens = 0;
    for (uint64_t i = 0; i < count && status == 0; i++) {
        struct plm_tree_node node = {.feature = -1};
        status = read_node(r, f, &node);
        if (status == 0 && follows_leaf && !f->opens)
            return plm_model_file_wrong(r, "the tree was complete before this node");
        if (status == 0)
            place_node(f, t, &node, follows_leaf);
        follows_leaf = node.feature < 0;
    }
    if (status == 0 && (f->opens || !follows_leaf))
        status = plm_model_file_wrong(r, "a split of the tree lacks its branches");
    return status;
}

int plm_model_file_trees(struct plm_model_file *r, size_t features, double low, double high, struct plm_trees *t)
{
    struct frame frame = {.features = features, .low = low, .high = high};
    uint64_t trees = 0;
    int status = plm_model_file_one_whole(r, "trees", 1, PLM_TREE_COUNT, &trees);
    for (; t->count < trees && status == 0; t->count++) {
        t->root = plm_grow(t->root, t->count, &t->root_room, sizeof *t->root);
        t->root[t->count] = (uint32_t)t->nodes;
        status =
            t->nodes < PLM_TREE_NODES ? read_tree(r, &frame, t) : plm_model_file_wrong(r, "there are too many nodes");
    }
    free(frame.open);
    if (status == 0)
        status = plm_model_file_expect(r, "end", 0);
    return status ? status : plm_model_file_end(r);
}

/* ---- the file ---- */

static int read_text(const char *path, const char *what, char **text, size_t *size, struct plm_error *error)
{
    uint64_t whole = 0;
    ssize_t part = 1;
    int file = plm_input_open(path, &whole, error), status = file < 0 ? file : 0;
    if (status == 0 && whole > MOST_BYTES)
        status = plm_fail(error, PLM_EFORMAT, "%.300s is too large to be %s", path, what);
    *size = 0;
    *text = status ? NULL : plm_calloc((size_t)whole + 1, 1);
    while (status == 0 && part > 0 && *size < whole) {
        part = read(file, *text + *size, (size_t)whole - *size);
        if (part < 0)
            status = plm_fail(error, PLM_EREAD, "cannot read %.300s: %s", path, strerror(errno));
        *size += part > 0 ? (size_t)part : 0;
    }
    if (file >= 0)
        close(file);
    return status;
}

int plm_model_file_bytes(const char *path, const char *what, struct plm_model_file *file, struct plm_error *error)
{
    size_t size = 0;
    int status;
    *file = (struct plm_model_file){.path = path, .error = error};
    status = read_text(path, what, &file->text, &size, error);
    file->at = file->text;
    file->end = status ? file->text : file->text + size;
    return status;
}

/* Files of before there was this header: a kind and a version, then whose they are. */
static bool is_old(const struct plm_model_file *r, char method[PLM_TREE_NAME])
{
    static const char *const kinds[] = {"plimsoll-forest", "plimsoll-boosted", "plimsoll-network"};
    char kind[PLM_TREE_NAME] = "", head[100] = "";
    const size_t size = (size_t)(r->end - r->text);
    memcpy(head, r->text, size < sizeof head ? size : sizeof head - 1);
    if (sscanf(head, "%31s %*15s method %31s", kind, method) != 2)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (!strcmp(kind, kinds[i]))
            return true;
    return false;
}

static int read_unlike(const struct plm_model_file *r)
{
    char method[PLM_TREE_NAME];
    if (!is_old(r, method))
        return plm_fail(r->error, PLM_EFORMAT, "%.300s is not a model of `plimsoll train`", r->path);
    return plm_fail(r->error, PLM_EVERSION,
                    "%.300s is a model of an older plimsoll; `plimsoll train --method %s rows.csv -o FILE` makes a new "
                    "one",
                    r->path, method);
}

/* What was written has arrived whole. */
static int check_sum(const struct plm_model_file *r)
{
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* what lies behind the checksum is to be reached */
    const size_t size = (size_t)(r->end - r->at);
    char sum[16], length[32];
    snprintf(sum, sizeof sum, "%08" PRIx32, sum_of(r->at, size));
    snprintf(length, sizeof length, "%zu", size);
    if (strcmp(length, r->word[4]) != 0)
        return plm_fail(r->error, PLM_EFORMAT, "%.300s is damaged: it has %s bytes after its header, which says %s",
                        r->path, length, r->word[4]);
    if (strcmp(sum, r->word[3]) != 0)
        return plm_fail(r->error, PLM_EFORMAT, "%.300s is damaged: its checksum is %s, but its header says %s", r->path,
                        sum, r->word[3]);
#endif
    return 0;
}

static int read_head(struct plm_model_file *r)
{
    char version[16];
    struct plm_error *error = r->error, ignored;
    int status;
    r->error = &ignored;
    status = plm_model_file_line(r);
    r->error = error;
    snprintf(version, sizeof version, "%d", VERSION);
    if (status || r->words < 2 || strcmp(r->word[0], HEAD) != 0)
        return read_unlike(r);
    if (strcmp(r->word[1], version) != 0)
        return plm_fail(error, PLM_EVERSION, "%.300s is a model of version %s, but this plimsoll reads %s", r->path,
                        r->word[1], version);
    if (r->words != 5 || strlen(r->word[2]) >= PLM_TREE_NAME)
        return plm_fail(error, PLM_EFORMAT, "%.300s is damaged: its header lacks the kind, checksum or length",
                        r->path);
    strcpy(r->kind, r->word[2]);
    return check_sum(r);
}

int plm_model_file_open(const char *path, struct plm_model_file *file, struct plm_error *error)
{
    int status = plm_model_file_bytes(path, "a model", file, error);
    return status ? status : read_head(file);
}

void plm_model_file_close(struct plm_model_file *file)
{
    free(file->text);
    *file = (struct plm_model_file){0};
}
