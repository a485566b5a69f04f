#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "common/error.h"
#include "record/reader.h"
#include "stack/rows.h"

struct work {
    struct plm_record *record;
    struct plm_names names; /* those that were written */
    struct plm_stack_used *used;
    FILE *out;
};

/* False if there are fewer words than the axes need. */
static bool read_convolution(const struct plm_record_event *e, struct plm_conv_shape *s)
{
    const struct plm_ev_convolution c = plm_get_convolution(e);
    if (c.axes < 1 || c.axes > PLM_CONV_AXES || e->count < plm_ev_convolution_words(c.axes))
        return false;
    *s = (struct plm_conv_shape){.op = (enum plm_conv_op)c.operation,
                                 .type = c.data_type,
                                 .channels_last = c.channels_last != 0,
                                 .axes = c.axes,
                                 .groups = c.groups,
                                 .n = c.batch,
                                 .c = c.in_channels,
                                 .k = c.out_channels,
                                 /* older records do not say; it is PyTorch's default */
                                 .tf32 = c.tf32 || c.workspace_source == PLM_CONV_SOURCE_UNKNOWN};
    for (int i = 0, to = PLM_CONV_AXES - c.axes; i < c.axes; i++, to++) {
        s->in[to] = c.axis[i].in;
        s->filter[to] = c.axis[i].filter;
        s->stride[to] = c.axis[i].stride;
        s->dilation[to] = c.axis[i].dilation;
        s->pad[to] = c.axis[i].padding;
    }
    return s->groups > 0;
}

static struct plm_rnn_shape read_rnn(const struct plm_record_event *e)
{
    const struct plm_ev_rnn r = plm_get_rnn(e);
    return (struct plm_rnn_shape){.cell = r.mode,
                                  .type = r.data_type,
                                  .training = r.operation != PLM_RNN_INFERENCE,
                                  .bias = r.bias != 0,
                                  .dropout = r.dropout != 0,
                                  .layers = r.layers,
                                  .directions = r.directions,
                                  .input = r.input_size,
                                  .hidden = r.hidden_size,
                                  .output = r.output_size,
                                  .steps = r.steps,
                                  .batch = r.batch};
}

/* `named`: it reads as a row again. A record may hold anything. */
static void row_put(struct work *w, const char *section, const char *text, bool named, int *counter)
{
    size_t known = w->names.count;
    if (!named) {
        w->used->unnamed++;
        return;
    }
    plm_names_add(&w->names, text);
    if (w->names.count == known)
        return;
    fprintf(w->out, "%s\t%s\n", section, text);
    ++*counter;
}

static int row_visit(const struct plm_record_event *e, void *context)
{
    struct work *w = context;
    struct plm_conv_shape conv;
    struct plm_rnn_shape rnn;
    struct plm_fft_shape fft;
    char text[PLM_ROW_TEXT];

    if (e->type == PLM_EV_CONVOLUTION && read_convolution(e, &conv)) {
        row_put(w, "convolution", text, plm_conv_text(&conv, text, sizeof text) && plm_conv_parse(text, &conv),
                &w->used->convolutions);
    } else if (e->type == PLM_EV_RNN) {
        rnn = read_rnn(e);
        row_put(w, "rnn", text, plm_rnn_text(&rnn, text, sizeof text) && plm_rnn_parse(text, &rnn), &w->used->rnns);
    } else if (e->type == PLM_EV_CONFIG) {
        const struct plm_ev_config said = plm_get_config(e);
        const char *row = plm_record_string(w->record, e->process, said.value);
        if (!strcmp(plm_record_string(w->record, e->process, said.key), "fft"))
            row_put(w, "fft", row, plm_fft_parse(row, &fft), &w->used->ffts);
    }
    return 0;
}

int plm_stack_used_record(struct plm_record *record, FILE *out, struct plm_stack_used *used, struct plm_error *error)
{
    struct work w = {.used = used, .out = out, .record = record};
    int status;
    *used = (struct plm_stack_used){0};
    plm_names_add(&w.names, "");
    status = plm_record_each(record, row_visit, &w, error);
    plm_names_free(&w.names);
    return status;
}

int plm_stack_used(const char *path, FILE *out, struct plm_stack_used *used, struct plm_error *error)
{
    struct plm_record *record;
    int status = plm_record_open(path, &record, error);
    if (status < 0)
        return status;
    status = plm_stack_used_record(record, out, used, error);
    plm_record_free(record);
    return status;
}
