/*
 * Layers that repeat, folded: modules whose names differ only in a number, and which hold (or take) about as much, read as
 * one: "blocks.0…11.mlp.0" for twelve of them. One rule for the report, diff, times, JSON and the page.
 *
 * - A number is a whole part of a path, as containers of PyTorch name their children: "blocks.3", not "layer3". With a
 *   leading zero, or of ten digits and more, it is a name.
 * - Numbers are folded from left to right, so "blocks.0.mlp.0" and "blocks.0.mlp.2" stay apart, and the experts of all
 *   layers become one if the layers are alike: "layers.0…31.experts.0…7.w1".
 * - Three or more are folded: two rows are read as fast. They are alike if their figures differ by a tenth in all.
 * - "0…11" has no gaps, "0…10/2" has every second one; of other sets it is the first and the last.
 *
 * Time is that of sorting. Who makes folds frees them. One thread; nothing fails.
 */
#ifndef PLM_REPORT_FOLDING_H
#define PLM_REPORT_FOLDING_H

#include <stdbool.h>
#include <stddef.h>

struct plm_holders;
struct plm_json;
struct plm_time_shares;

struct plm_repeat_input {
    const char *const *name;
    const double *shape; /* `figures` numbers for each name, from 0 on */
    size_t count, figures;
    bool ascii; /* "0-11" instead of "0…11" */
    bool single; /* nothing is folded: each is by itself */
};

struct plm_repeat {
    char *name; /* of a single module its own */
    size_t first, count; /* its members: places in the input, folds.member[first ...], by their numbers */
};

struct plm_repeats {
    struct plm_repeat *item; /* the largest sum of figures first, then in the order of the input */
    size_t count;
    size_t *member;
};

struct plm_repeats plm_repeats_make(const struct plm_repeat_input *input);
void plm_repeats_free(struct plm_repeats *folds);
/* "blocks.0…11.mlp.0 x 12"; of a single module its name. The caller frees it. */
char *plm_repeat_label(const struct plm_repeat *fold);

/* An entry of the array "modules_folded" of a document: begin opens an object with "name" and "count", end adds the names
   of its "modules" and closes it; figures go between. `rows`: what was folded, structs of `size` bytes that begin with
   their name. */
void plm_repeat_json_begin(struct plm_json *json, const struct plm_repeat *fold);
void plm_repeat_json_end(struct plm_json *json, const struct plm_repeats *folds, const struct plm_repeat *fold,
                         const void *rows, size_t size);

/* Folds of modules, alike in all categories. */
struct plm_repeats plm_repeats_of_holders(const struct plm_holders *holders, bool ascii);
/* The same as holders whose names are labels; takes the place of `holders`, which are freed. */
void plm_repeats_merge_holders(struct plm_holders *holders, bool ascii);

/* Folds of shares of time, alike in what limits them; and as shares whose names are labels. What this
   returns is freed with plm_repeats_free_shares(); nothing in it belongs to `shares`. `single`: nothing is folded. */
struct plm_repeats plm_repeats_of_shares(const struct plm_time_shares *shares, bool ascii, bool single);
struct plm_time_shares plm_repeats_merge_shares(const struct plm_time_shares *shares, bool ascii, bool single);
void plm_repeats_free_shares(struct plm_time_shares *folded);

#endif
