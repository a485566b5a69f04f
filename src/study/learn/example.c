#include "study/learn/example.h"

#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/csv.h"
#include "study/estimate/description.h"
#include "study/learn/example_parts.h"

const char *const plm_example_column[PLM_EXAMPLE_NUMBER_COUNT] = {
#define X(name, column) [PLM_EXAMPLE_##name] = column,
    PLM_EXAMPLE_NUMBERS(X)
#undef X
};

static void numbers_clear(double *number)
{
    for (int i = 0; i < PLM_EXAMPLE_NUMBER_COUNT; i++)
        number[i] = -1;
}

/* ---- from a description ---- */

/* What counts the calls of a kind; PLM_EXAMPLE_NUMBER_COUNT: nothing. */
static enum plm_example_number counter_of(enum plm_layer_kind kind)
{
    static const enum plm_example_number counter[PLM_LAYER_KINDS] = {
        [PLM_LAYER_LINEAR] = PLM_EXAMPLE_LINEARS,         [PLM_LAYER_CONVOLUTION] = PLM_EXAMPLE_CONVOLUTIONS,
        [PLM_LAYER_BATCHNORM] = PLM_EXAMPLE_BATCHNORMS,   [PLM_LAYER_LAYERNORM] = PLM_EXAMPLE_LAYERNORMS,
        [PLM_LAYER_DROPOUT] = PLM_EXAMPLE_DROPOUTS,       [PLM_LAYER_ACTIVATION] = PLM_EXAMPLE_NUMBER_COUNT,
        [PLM_LAYER_POOL] = PLM_EXAMPLE_NUMBER_COUNT,      [PLM_LAYER_EMBEDDING] = PLM_EXAMPLE_EMBEDDINGS,
        [PLM_LAYER_PROJECTION] = PLM_EXAMPLE_PROJECTIONS, [PLM_LAYER_RECURRENT] = PLM_EXAMPLE_NUMBER_COUNT,
        [PLM_LAYER_OTHER] = PLM_EXAMPLE_NUMBER_COUNT,
    };
    return counter[kind];
}

/* The one that is called most; Identity, which stands in many places for nothing, only where there is no other. */
static double activation_most(const struct plm_description *d)
{
    size_t calls[PLM_ACTIVATIONS] = {0};
    int best = -1;
    for (size_t i = 0; i < d->calls; i++) {
        const int index = d->call[i].again ? -1 : plm_activation_index(d->module[d->call[i].module].class_name);
        if (index >= 0)
            calls[index]++;
    }
    for (int i = 0; i < PLM_ACTIVATIONS; i++)
        if (i != PLM_ACTIVATION_IDENTITY && calls[i] > (best < 0 ? 0 : calls[best]))
            best = i;
    return best < 0 && calls[PLM_ACTIVATION_IDENTITY] ? PLM_ACTIVATION_IDENTITY : best;
}

static void layers_count(const struct plm_example *example, double *number)
{
    double flops = 0;
    static const enum plm_example_number sums[] = {
        PLM_EXAMPLE_ACTIVATIONS, PLM_EXAMPLE_LARGEST,    PLM_EXAMPLE_CONVOLUTIONS,
        PLM_EXAMPLE_LINEARS,     PLM_EXAMPLE_BATCHNORMS, PLM_EXAMPLE_LAYERNORMS,
        PLM_EXAMPLE_DROPOUTS,    PLM_EXAMPLE_EMBEDDINGS, PLM_EXAMPLE_PROJECTIONS};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        number[sums[i]] = 0;
    for (size_t i = 0; i < example->layers; i++) {
        const struct plm_layer *layer = &example->layer[i];
        const enum plm_example_number counter = counter_of(layer->kind);
        number[PLM_EXAMPLE_ACTIVATIONS] += layer->elements;
        if (layer->elements > number[PLM_EXAMPLE_LARGEST])
            number[PLM_EXAMPLE_LARGEST] = layer->elements;
        if (counter != PLM_EXAMPLE_NUMBER_COUNT)
            number[counter]++;
        flops = flops < 0 || layer->flops < 0 ? -1 : flops + layer->flops;
    }
    number[PLM_EXAMPLE_LAYERS] = (double)example->layers;
    number[PLM_EXAMPLE_FLOPS] = flops;
}

static double inputs_count(const struct plm_described_batch *batch)
{
    double sum = 0;
    for (size_t i = 0; i < batch->inputs; i++)
        sum += (double)batch->input[i].elements;
    return batch->inputs ? sum : -1;
}

int plm_example_describe(const struct plm_description *description, struct plm_example *example,
                         struct plm_error *error)
{
    double *number = example->number;
    int status;
    *example = (struct plm_example){0};
    numbers_clear(number);
    status = plm_example_layers(description, example, error);
    if (status)
        return status;
    layers_count(example, number);
    if (number[PLM_EXAMPLE_FLOPS] < 0) /* older descriptions have them in one sum */
        number[PLM_EXAMPLE_FLOPS] = description->feature[PLM_FEATURE_FLOPS];
    number[PLM_EXAMPLE_BATCH] = description->batch.size ? (double)description->batch.size : -1;
    number[PLM_EXAMPLE_PARAMETERS] = (double)description->model.parameters;
    number[PLM_EXAMPLE_INPUT] = inputs_count(&description->batch);
    number[PLM_EXAMPLE_STATE] = description->optimizer.known ? (double)description->optimizer.state_bytes : -1;
    number[PLM_EXAMPLE_ACTIVATION] = activation_most(description);
    return 0;
}

/* ---- from a table ---- */

static int numbers_read(const struct plm_csv *table, size_t row, double *number, struct plm_error *error)
{
    for (int i = 0; i < PLM_EXAMPLE_NUMBER_COUNT; i++) {
        const int column = plm_csv_column(table, plm_example_column[i]);
        int status;
        if (!plm_csv_cell(table, row, column)[0])
            continue;
        status = plm_csv_real(table, row, column, &number[i], error);
        if (status)
            return status;
        if (number[i] < 0 && number[i] != -1)
            return plm_csv_wrong(table, row, column, "a number from 0, or -1 if unknown", error);
    }
    return 0;
}

int plm_example_read(const struct plm_csv *table, size_t row, struct plm_example *example, struct plm_error *error)
{
    const int column = plm_csv_column(table, "layers");
    struct plm_error why = {0};
    int status;
    *example = (struct plm_example){0};
    numbers_clear(example->number);
    status = numbers_read(table, row, example->number, error);
    if (status)
        return status;
    status = plm_layers_parse(plm_csv_cell(table, row, column), &example->layer, &example->layers, &why);
    return status ? plm_fail(error, status, "%.200s:%u: layers: %.200s", table->path, table->line[row + 1], why.text)
                  : 0;
}

void plm_example_free(struct plm_example *example)
{
    free(example->layer);
    *example = (struct plm_example){0};
}
