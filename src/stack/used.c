#include "stack/used.h"

#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/error.h"
#include "record/reader.h"
#include "stack/rows.h"

struct work {
    struct plm_record *record;
    struct plm_names names; /* those that were written */
    struct plm_stack_used *used;
    FILE *out;
};

static uint64_t bits(uint64_t word, int at, int count)
{
    return word >> at & ((1ull << count) - 1);
}

/* docs/record.md has the words. False if there are fewer than the axes need. */
static bool read_convolution(const struct plm_record_event *e, struct plm_conv_shape *s)
{
    const int axes = e->count > 5 ? (int)bits(e->words[2], 24, 8) : 0, first = PLM_CONV_AXES - axes;
    if (axes < 1 || axes > PLM_CONV_AXES || e->count < 6u + 2u * (unsigned)axes)
        return false;
    *s = (struct plm_conv_shape){.op = (enum plm_conv_op)bits(e->words[2], 0, 8),
                                 .type = (int)bits(e->words[2], 8, 8),
                                 .channels_last = bits(e->words[2], 16, 8) != 0,
                                 .axes = axes,
                                 .groups = (int64_t)(e->words[2] >> 32),
                                 .n = (uint32_t)e->words[3],
                                 .c = (int64_t)(e->words[3] >> 32),
                                 .k = (uint32_t)e->words[4],
                                 /* older records do not say; it is PyTorch's default */
                                 .tf32 = bits(e->words[4], 40, 8) || !bits(e->words[4], 32, 8)};
    for (int i = 0; i < axes; i++) {
        const uint64_t *word = e->words + 6 + 2 * i;
        s->in[first + i] = (uint32_t)word[0];
        s->filter[first + i] = (int64_t)bits(word[1], 0, 16);
        s->stride[first + i] = (int64_t)bits(word[1], 16, 16);
        s->dilation[first + i] = (int64_t)bits(word[1], 32, 16);
        s->pad[first + i] = (int64_t)bits(word[1], 48, 16);
    }
    return s->groups > 0;
}

static bool read_rnn(const struct plm_record_event *e, struct plm_rnn_shape *s)
{
    if (e->count < 8)
        return false;
    *s = (struct plm_rnn_shape){.cell = (int)bits(e->words[2], 8, 8),
                                .type = (int)bits(e->words[2], 16, 8),
                                .training = bits(e->words[2], 0, 8) != PLM_RNN_INFERENCE,
                                .bias = bits(e->words[2], 24, 8) != 0,
                                .dropout = e->count > 8 && e->words[8] != 0,
                                .layers = (int64_t)bits(e->words[2], 32, 16),
                                .directions = (int64_t)bits(e->words[2], 48, 16),
                                .input = (uint32_t)e->words[3],
                                .hidden = (int64_t)(e->words[3] >> 32),
                                .output = (uint32_t)e->words[4],
                                .steps = (int64_t)(e->words[4] >> 32),
                                .batch = (uint32_t)e->words[5]};
    return true;
}

static int row_put(struct work *w, const char *section, const char *text, int *counter)
{
    size_t known = w->names.count;
    uint32_t number = plm_names_add(&w->names, text);
    if (w->names.count == known || number == 0)
        return 0;
    fprintf(w->out, "%s\t%s\n", section, text);
    ++*counter;
    return 0;
}

/* Only what reads as a row again: a record may hold anything. */
static int row_visit(const struct plm_record_event *e, void *context)
{
    struct work *w = context;
    struct plm_conv_shape conv;
    struct plm_rnn_shape rnn;
    struct plm_fft_shape fft;
    char text[PLM_ROW_TEXT];

    if (e->type == PLM_EV_CONVOLUTION && read_convolution(e, &conv)) {
        if (plm_conv_text(&conv, text, sizeof text) && plm_conv_parse(text, &conv))
            return row_put(w, "convolution", text, &w->used->convolutions);
        w->used->unnamed++;
    } else if (e->type == PLM_EV_RNN && read_rnn(e, &rnn)) {
        if (plm_rnn_text(&rnn, text, sizeof text) && plm_rnn_parse(text, &rnn))
            return row_put(w, "rnn", text, &w->used->rnns);
        w->used->unnamed++;
    } else if (e->type == PLM_EV_CONFIG && e->count > 0 &&
               !strcmp(plm_record_string(w->record, e->process, (uint32_t)e->words[0]), "fft")) {
        const char *row = plm_record_string(w->record, e->process, (uint32_t)(e->words[0] >> 32));
        if (plm_fft_parse(row, &fft))
            return row_put(w, "fft", row, &w->used->ffts);
        w->used->unnamed++;
    }
    return 0;
}

int plm_stack_used(const char *path, FILE *out, struct plm_stack_used *used, struct plm_error *error)
{
    struct work w = {.used = used, .out = out};
    int status = plm_record_open(path, &w.record, error);
    *used = (struct plm_stack_used){0};
    if (status < 0)
        return status;
    plm_names_add(&w.names, "");
    status = plm_record_each(w.record, row_visit, &w, error);
    plm_names_free(&w.names);
    plm_record_free(w.record);
    return status;
}
