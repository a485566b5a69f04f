/* Tables of `plimsoll dataset`: what is taken of a row is written again as it was read. And the layers of descriptions. */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/csv.h"
#include "study/estimate/description.h"
#include "study/learn/example.h"
#include "study/learn/example_parts.h"
#include "fuzz.h"

static void layers_check(const struct plm_layer *layer, size_t layers)
{
    struct plm_layer *again = NULL;
    struct plm_error error = {0};
    char *text = NULL;
    size_t size, count = 0;
    FILE *out = open_memstream(&text, &size);
    plm_layers_put(out, layer, layers);
    fclose(out);
    if (plm_layers_parse(text, &again, &count, &error) || count != layers)
        abort();
    for (size_t i = 0; i < layers; i++)
        if (layer[i].kind != again[i].kind || layer[i].inputs != again[i].inputs ||
            memcmp(layer[i].input, again[i].input, layer[i].inputs * sizeof again[i].input[0]) != 0)
            abort();
    free(again);
    free(text);
}

static void example_check(int status, struct plm_example *example, const struct plm_error *error)
{
    if (status && !error->text[0])
        abort();
    if (status == 0)
        layers_check(example->layer, example->layers);
    plm_example_free(example);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plm_error error = {0};
    struct plm_description *d = NULL;
    struct plm_example example;
    struct plm_csv table;
    if (size && *data == '{') {
        if (plm_description_parse("input", (const char *)data, size, &d, &error) == 0)
            example_check(plm_example_describe(d, &example, &error), &example, &error);
        plm_description_free(d);
        return 0;
    }
    if (plm_csv_read(fuzz_file(data, size), &table, &error))
        return 0;
    for (size_t i = 0; i < table.rows; i++)
        example_check(plm_example_read(&table, i, &example, &error), &example, &error);
    plm_csv_free(&table);
    return 0;
}
