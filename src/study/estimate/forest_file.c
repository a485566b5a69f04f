#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/error.h"
#include "base/input.h"
#include "study/estimate/forest.h"

#define VERSION "1"

enum { MOST_BYTES = 1 << 29, WORDS = 5, WORD = 64 };

/* ---- writing ---- */

int plm_forest_save(FILE *out, const struct plm_forest *f)
{
    fprintf(out, "plimsoll-forest " VERSION "\nmethod %s\ntarget %s\nrows %" PRIu64 "\nseed %" PRIu64 "\n", f->method,
            f->target, f->rows, f->seed);
    fprintf(out, "range %.17g %.17g\nout-of-bag %" PRIu64 " %.17g %.17g\nfeatures %zu\n", f->low, f->high, f->oob_rows,
            f->oob_r2, f->oob_error, f->features);
    for (size_t i = 0; i < f->features; i++)
        fprintf(out, "feature %s %.17g %.17g %.17g\n", f->feature[i].name, f->feature[i].low, f->feature[i].high,
                f->feature[i].importance);
    fprintf(out, "trees %zu\n", f->trees);
    for (size_t i = 0; i < f->trees; i++) {
        size_t end = i + 1 < f->trees ? f->tree[i + 1] : f->nodes;
        fprintf(out, "tree %zu\n", end - f->tree[i]);
        for (size_t n = f->tree[i]; n < end; n++)
            if (f->node[n].feature < 0)
                fprintf(out, "leaf %.17g\n", f->node[n].value);
            else
                fprintf(out, "split %d %.17g\n", f->node[n].feature, f->node[n].value);
    }
    fputs("end\n", out);
    return ferror(out) ? PLM_EIO : 0;
}

/* ---- reading ---- */

struct reader {
    const char *path, *at, *end;
    unsigned line;
    char word[WORDS][WORD];
    int words;
    size_t node_room;
    uint32_t *open; /* splits that have no right branch yet */
    size_t opens, open_room;
    struct plm_error *error;
};

static int wrong(const struct reader *r, const char *what)
{
    return plm_fail(r->error, PLM_EFORMAT, "%.300s:%u: %s", r->path, r->line, what);
}

/* One line into words. */
static int read_line(struct reader *r)
{
    r->line++;
    r->words = 0;
    if (r->at == r->end)
        return wrong(r, "the file ends too early");
    while (r->at < r->end && *r->at != '\n') {
        size_t length = 0;
        if (r->words == WORDS)
            return wrong(r, "the line has too many words");
        while (r->at < r->end && *r->at > ' ' && *r->at < 127 && length < WORD - 1)
            r->word[r->words][length++] = *r->at++;
        r->word[r->words++][length] = '\0';
        if (!length || (r->at < r->end && *r->at != ' ' && *r->at != '\n'))
            return wrong(r, "there should be words with one blank between them");
        if (r->at < r->end && *r->at == ' ' && ++r->at < r->end && *r->at == '\n')
            return wrong(r, "there should be words with one blank between them");
    }
    if (r->at == r->end)
        return wrong(r, "the file ends in the middle of a line");
    r->at++;
    return 0;
}

/* The next line, which is this key with that many values. */
static int expect(struct reader *r, const char *key, int values)
{
    char text[100];
    int status = read_line(r);
    if (status)
        return status;
    if (r->words == values + 1 && !strcmp(r->word[0], key))
        return 0;
    snprintf(text, sizeof text, "there should be \"%s\" with %d value%s", key, values, values == 1 ? "" : "s");
    return wrong(r, text);
}

static int real(const struct reader *r, int word, double *value)
{
    const char *text = r->word[word];
    char *end;
    *value = strtod(text, &end);
    if (strspn(text, "0123456789+-.eE") != strlen(text) || end == text || *end || !(fabs(*value) < FLT_MAX))
        return wrong(r, "a number should be there");
    return 0;
}

static int whole(const struct reader *r, int word, uint64_t least, uint64_t most, uint64_t *value)
{
    const char *text = r->word[word];
    char *end, sentence[120];
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (strspn(text, "0123456789") == strlen(text) && !*end && !errno && *value >= least && *value <= most)
        return 0;
    snprintf(sentence, sizeof sentence, "a whole number from %" PRIu64 " to %" PRIu64 " should be there", least, most);
    return wrong(r, sentence);
}

static int name(const struct reader *r, int word, char out[PLM_FOREST_NAME])
{
    size_t length = strlen(r->word[word]);
    if (length >= PLM_FOREST_NAME)
        return wrong(r, "a name is too long");
    memcpy(out, r->word[word], length + 1);
    return 0;
}

static int read_range(struct reader *r, int word, double *low, double *high)
{
    int status = real(r, word, low);
    if (status == 0)
        status = real(r, word + 1, high);
    if (status == 0 && *low > *high)
        status = wrong(r, "the lower end is above the upper end");
    return status;
}

static int read_feature(struct reader *r, struct plm_forest_feature *feature)
{
    int status = expect(r, "feature", 4);
    if (status == 0)
        status = name(r, 1, feature->name);
    if (status == 0)
        status = read_range(r, 2, &feature->low, &feature->high);
    if (status == 0)
        status = real(r, 4, &feature->importance);
    if (status == 0 && !(feature->importance >= 0 && feature->importance <= 1.000001))
        status = wrong(r, "an importance is a share from 0 to 1");
    return status;
}

/* One line of the head after the other. */
static int read_head(struct reader *r, struct plm_forest *f, size_t *trees)
{
    uint64_t number = 0;
    int status = expect(r, "plimsoll-forest", 1);
    if (status)
        return plm_fail(r->error, PLM_EFORMAT, "%.300s is not a forest of `plimsoll train`", r->path);
    if (strcmp(r->word[1], VERSION) != 0)
        return plm_fail(r->error, PLM_EVERSION, "%.300s is a forest of version %s, and this plimsoll reads " VERSION,
                        r->path, r->word[1]);
    if ((status = expect(r, "method", 1)) || (status = name(r, 1, f->method)))
        return status;
    if ((status = expect(r, "target", 1)) || (status = name(r, 1, f->target)))
        return status;
    if ((status = expect(r, "rows", 1)) || (status = whole(r, 1, 1, PLM_FOREST_ROWS, &f->rows)))
        return status;
    if ((status = expect(r, "seed", 1)) || (status = whole(r, 1, 0, UINT64_MAX, &f->seed)))
        return status;
    if ((status = expect(r, "range", 2)) || (status = read_range(r, 1, &f->low, &f->high)))
        return status;
    if (f->low <= 0)
        return wrong(r, "the target is above 0");
    if ((status = expect(r, "out-of-bag", 3)) || (status = whole(r, 1, 0, f->rows, &f->oob_rows)) ||
        (status = real(r, 2, &f->oob_r2)) || (status = real(r, 3, &f->oob_error)))
        return status;
    if ((status = expect(r, "features", 1)) || (status = whole(r, 1, 1, PLM_FOREST_FEATURES, &number)))
        return status;
    for (f->features = 0; f->features < number; f->features++)
        if ((status = read_feature(r, &f->feature[f->features])))
            return status;
    if ((status = expect(r, "trees", 1)) || (status = whole(r, 1, 1, PLM_FOREST_TREES, &number)))
        return status;
    *trees = (size_t)number;
    return 0;
}

static int read_node(struct reader *r, const struct plm_forest *f, struct plm_forest_node *node)
{
    uint64_t feature = 0;
    int status = read_line(r);
    if (status)
        return status;
    *node = (struct plm_forest_node){.feature = -1};
    if (r->words == 2 && !strcmp(r->word[0], "leaf")) {
        status = real(r, 1, &node->value);
        /* A mean of equal numbers may be off by a rounding error. */
        if (status == 0 && (node->value < f->low * (1 - 1e-9) || node->value > f->high * (1 + 1e-9)))
            status = wrong(r, "a leaf lies outside of the range of the target");
        return status;
    }
    if (r->words != 3 || strcmp(r->word[0], "split") != 0)
        return wrong(r, "there should be \"leaf\" with one value or \"split\" with two");
    status = whole(r, 1, 0, f->features - 1, &feature);
    node->feature = (int32_t)feature;
    return status ? status : real(r, 2, &node->value);
}

/* Who a node belongs to follows from the order alone: what comes after a leaf is the right branch of the last split
   that has none. So no file can describe a circle. */
static void place_node(struct reader *r, struct plm_forest *f, const struct plm_forest_node *node, bool follows_leaf)
{
    f->node = plm_grow(f->node, f->nodes, &r->node_room, sizeof *f->node);
    r->open = plm_grow(r->open, r->opens, &r->open_room, sizeof *r->open);
    if (follows_leaf)
        f->node[r->open[--r->opens]].right = (uint32_t)f->nodes;
    if (node->feature >= 0)
        r->open[r->opens++] = (uint32_t)f->nodes;
    f->node[f->nodes++] = *node;
}

static int read_tree(struct reader *r, struct plm_forest *f)
{
    bool follows_leaf = false;
    uint64_t count = 0;
    int status = expect(r, "tree", 1);
    if (status == 0)
        status = whole(r, 1, 1, PLM_FOREST_NODES - f->nodes, &count);
    r->opens = 0;
    for (uint64_t i = 0; i < count && status == 0; i++) {
        struct plm_forest_node node = {.feature = -1};
        status = read_node(r, f, &node);
        if (status == 0 && follows_leaf && !r->opens)
            return wrong(r, "the tree was complete before this node");
        if (status == 0)
            place_node(r, f, &node, follows_leaf);
        follows_leaf = node.feature < 0;
    }
    if (status == 0 && (r->opens || !follows_leaf))
        status = wrong(r, "a split of the tree lacks its branches");
    return status;
}

static int read_forest(struct reader *r, struct plm_forest *f)
{
    size_t trees = 0;
    int status = read_head(r, f, &trees);
    if (status)
        return status;
    f->tree = plm_calloc(trees, sizeof *f->tree);
    for (; f->trees < trees && status == 0; f->trees++) {
        if (f->nodes >= PLM_FOREST_NODES)
            return wrong(r, "the forest has too many nodes");
        f->tree[f->trees] = (uint32_t)f->nodes;
        status = read_tree(r, f);
    }
    if (status == 0)
        status = expect(r, "end", 0);
    if (status == 0 && r->at != r->end)
        status = wrong(r, "something follows the end");
    return status;
}

static int read_text(const char *path, char **text, size_t *size, struct plm_error *error)
{
    uint64_t whole = 0;
    ssize_t part = 1;
    int file = plm_input_open(path, &whole, error), status = file < 0 ? file : 0;
    if (status == 0 && whole > MOST_BYTES)
        status = plm_fail(error, PLM_EFORMAT, "%.300s is too large to be a forest", path);
    *size = 0;
    *text = status ? NULL : plm_calloc((size_t)whole + 1, 1);
    while (status == 0 && part > 0 && *size < whole) {
        part = read(file, *text + *size, (size_t)whole - *size);
        if (part < 0)
            status = plm_fail(error, PLM_EIO, "cannot read %.300s: %s", path, strerror(errno));
        *size += part > 0 ? (size_t)part : 0;
    }
    if (file >= 0)
        close(file);
    return status;
}

int plm_forest_load(const char *path, struct plm_forest *forest, struct plm_error *error)
{
    struct reader r = {.path = path, .error = error};
    char *text = NULL;
    size_t size = 0;
    int status = read_text(path, &text, &size, error);
    *forest = (struct plm_forest){0};
    if (status == 0) {
        r.at = text;
        r.end = text + size;
        status = read_forest(&r, forest);
    }
    free(text);
    free(r.open);
    if (status)
        plm_forest_free(forest);
    return status;
}
