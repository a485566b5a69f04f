#include "study/methods/methods.h"

#include <string.h>

#include "common/error.h"
#include "base/words.h"
#include "study/estimate/model_file.h"

#define METHOD(name) extern const struct plm_method plm_method_##name;
#include "study/methods/methods.def"
#undef METHOD

#define METHOD(name) &plm_method_##name,
const struct plm_method *const plm_methods[PLM_METHODS] = {
#include "study/methods/methods.def"
};
#undef METHOD

/* ---- by name ---- */

const struct plm_method *plm_methods_find(const char *name)
{
    for (size_t i = 0; i < PLM_METHODS; i++)
        if (!strcmp(plm_methods[i]->name, name))
            return plm_methods[i];
    return NULL;
}

const struct plm_method *plm_methods_find_learner(const char *name)
{
    const struct plm_method *method = plm_methods_find(name);
    return method && method->learner ? method : NULL;
}

static bool is_near(const char *word, const char *name)
{
    size_t length = strlen(word);
    return (length >= 3 && (strcasestr(name, word) || strcasestr(word, name))) ||
           plm_words_distance(word, name) <= 1 + length / 4;
}

const char *plm_methods_nearest(const char *word, char *buffer, size_t size)
{
    size_t used = 0;
    int shown = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < PLM_METHODS && shown < 4; i++)
        if (is_near(word, plm_methods[i]->name) && used < size) {
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", shown ? ", " : "", plm_methods[i]->name);
            shown++;
        }
    return buffer;
}

/* ---- what they have learned ---- */

int plm_methods_model_open(const char *path, struct plm_model *learned, struct plm_error *error)
{
    struct plm_model_file file;
    int status = plm_model_file_open(path, &file, error);
    *learned = (struct plm_model){0};
    if (status == 0) {
        learned->method = plm_methods_find_learner(file.kind);
        status = learned->method
                     ? learned->method->learner->load(learned->method, &file, &learned->model)
                     : plm_fail(error, PLM_EFORMAT, "%.300s is for %s, which is not a learned method", path, file.kind);
    }
    plm_model_file_close(&file);
    return status;
}

int plm_methods_model_save(FILE *out, const struct plm_model *learned)
{
    return plm_model_file_save(out, learned->method->name, learned->method->learner->put, learned->model);
}

void plm_methods_model_close(struct plm_model *learned)
{
    if (learned->method)
        learned->method->learner->free(learned->model);
    *learned = (struct plm_model){0};
}
