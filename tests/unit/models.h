/* Files of models for tests: a payload that is written down, with the header that belongs to it. */
#ifndef PLM_UNIT_MODELS_H
#define PLM_UNIT_MODELS_H

#include <stdio.h>

#include "study/estimate/model_file.h"
#include "unit.h"

static inline void model_put_text(FILE *out, const void *what)
{
    fputs(what, out);
}

/* The path of a file of that kind with that payload, which any of the functions put_*() writes. */
static inline const char *model_write(const char *name, const char *kind, void (*put)(FILE *out, const void *what),
                                      const void *what)
{
    const char *path = unit_path(name);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    assert_int_equal(plm_model_file_save(out, kind, put, what), 0);
    fclose(out);
    return path;
}

#endif
