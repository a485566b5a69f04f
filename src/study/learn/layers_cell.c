/* The cell "layers" of a table: one word a layer, and back. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "base/memory.h"
#include "study/learn/example_parts.h"

void plm_layers_put(FILE *out, const struct plm_layer *layer, size_t layers)
{
    for (size_t i = 0; i < layers; i++) {
        const struct plm_layer *l = &layer[i];
        fprintf(out, "%s%s:%.0f:%.0f:%.0f:%.0f:", i ? " " : "", plm_layer_name[l->kind], l->elements, l->width,
                l->parameters, l->flops);
        for (size_t k = 0; k < l->inputs; k++)
            fprintf(out, "%s%u", k ? "+" : "", (unsigned)l->input[k]);
    }
}

static bool kind_parse(const char **at, enum plm_layer_kind *kind)
{
    const size_t length = strcspn(*at, ": ");
    for (int i = 0; i < PLM_LAYER_KINDS; i++)
        if (strlen(plm_layer_name[i]) == length && !strncmp(*at, plm_layer_name[i], length)) {
            *kind = (enum plm_layer_kind)i;
            *at += length;
            return true;
        }
    return false;
}

/* ":NUMBER"; only the last of the four may be -1. */
static bool number_parse(const char **at, double least, double *value)
{
    char *end;
    if (**at != ':' || !strchr("-0123456789", (*at)[1]) || !(*at)[1])
        return false;
    *value = strtod(*at + 1, &end);
    *at = end;
    return isfinite(*value) && *value >= least && *value <= PLM_LAYER_MOST;
}

static bool inputs_parse(const char **at, size_t before, struct plm_layer *layer)
{
    if (*(*at)++ != ':')
        return false;
    while (**at && **at != ' ') {
        char *end;
        unsigned long input;
        if (**at < '0' || **at > '9' || layer->inputs == PLM_LAYER_INPUTS)
            return false;
        errno = 0;
        input = strtoul(*at, &end, 10);
        if (errno || input >= before)
            return false;
        layer->input[layer->inputs++] = (uint32_t)input;
        if (*end == '+' && end[1] != ' ' && end[1])
            end++;
        else if (*end && *end != ' ')
            return false;
        *at = end;
    }
    return true;
}

static bool layer_parse(const char **at, size_t before, struct plm_layer *layer)
{
    *layer = (struct plm_layer){0};
    return kind_parse(at, &layer->kind) && number_parse(at, 0, &layer->elements) &&
           number_parse(at, 0, &layer->width) && number_parse(at, 0, &layer->parameters) &&
           number_parse(at, -1, &layer->flops) && inputs_parse(at, before, layer);
}

int plm_layers_parse(const char *text, struct plm_layer **layer, size_t *layers, struct plm_error *error)
{
    size_t room = 0;
    *layer = NULL;
    *layers = 0;
    while (*(text += strspn(text, " "))) {
        if (*layers < PLM_LAYERS_MOST) {
            *layer = plm_grow(*layer, *layers, &room, sizeof **layer);
            if (layer_parse(&text, *layers, &(*layer)[*layers]) && (*text == ' ' || !*text)) {
                ++*layers;
                continue;
            }
        }
        free(*layer);
        *layer = NULL;
        if (*layers == PLM_LAYERS_MOST)
            return plm_fail(error, PLM_EFORMAT, "there are more than %d layers", PLM_LAYERS_MOST);
        return plm_fail(error, PLM_EFORMAT, "layer %zu is not KIND:ELEMENTS:WIDTH:PARAMETERS:FLOPS:INPUT+INPUT",
                        *layers);
    }
    return 0;
}
