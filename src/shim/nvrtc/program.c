/* Programs: made, named, "compiled", and the text that stands for their result. */
#include "shim/nvrtc/nvrtc.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/shim.h"

/* What the compiler assumes when no option names an architecture. */
#if PLM_CUDA >= 13
#define DEFAULT_TARGET "75"
#else
#define DEFAULT_TARGET "52"
#endif

PLM_API int nvrtcCreateProgram(struct plm_nvrtc_program **out, const char *source)
{
    if (!out || !source)
        return PLM_NVRTC_INVALID_INPUT;
    *out = calloc(1, sizeof **out);
    return *out ? PLM_NVRTC_OK : PLM_NVRTC_OUT_OF_MEMORY;
}

PLM_API int nvrtcDestroyProgram(struct plm_nvrtc_program **program)
{
    if (!program || !*program)
        return PLM_NVRTC_INVALID_PROGRAM;
    for (struct plm_nvrtc_name *name = (*program)->names, *next; name; name = next) {
        next = name->next;
        free(name->expression);
        free(name->lowered);
        free(name);
    }
    free(*program);
    *program = NULL;
    return PLM_NVRTC_OK;
}

/* Digits and an optional letter after "sm_" or "compute_"; NULL if the option is about something else. */
static const char *target_of(const char *option)
{
    static const char *const prefixes[] = {"--gpu-architecture=", "-arch=", "--gpu-architecture", "-arch"};
    static const char *const kinds[] = {"sm_", "compute_", "lto_"};
    for (size_t p = 0; p < sizeof prefixes / sizeof prefixes[0]; p++) {
        size_t skip = strlen(prefixes[p]);
        if (strncmp(option, prefixes[p], skip))
            continue;
        option += skip + strspn(option + skip, " ");
        break;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (!strncmp(option, kinds[k], strlen(kinds[k])))
            return option + strlen(kinds[k]);
    return NULL;
}

PLM_API int nvrtcCompileProgram(struct plm_nvrtc_program *program, int count, const char *const *options)
{
    const char *target = DEFAULT_TARGET;
    if (!program)
        return PLM_NVRTC_INVALID_PROGRAM;
    for (int i = 0; options && i < count; i++) {
        const char *found = options[i] ? target_of(options[i]) : NULL;
        if (found)
            target = found;
    }
    snprintf(program->image, sizeof program->image, ".version 8.0\n.target sm_%.8s\n.address_size 64\n", target);
    program->compiled = true;
    return PLM_NVRTC_OK;
}

/* An identifier made of the expression's own letters, so that a reader recognises the kernel, and of
   a hash, so that two expressions never share one. The driver makes a kernel of any name. */
static char *lower(const char *expression)
{
    enum { SHOWN = 160 };
    uint64_t hash = 14695981039346656037ull;
    char shown[SHOWN + 1];
    size_t n = 0;
    char *out = NULL;
    for (const char *c = expression; *c; c++) {
        hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
        if (n < SHOWN && (isalnum((unsigned char)*c) || (n && shown[n - 1] != '_')))
            shown[n++] = isalnum((unsigned char)*c) ? *c : '_';
    }
    shown[n] = '\0';
    if (asprintf(&out, "nvrtc_%s_%08x", shown, (unsigned)(hash ^ hash >> 32)) < 0)
        return NULL;
    return out;
}

PLM_API int nvrtcAddNameExpression(struct plm_nvrtc_program *program, const char *expression)
{
    struct plm_nvrtc_name *name;
    if (!program)
        return PLM_NVRTC_INVALID_PROGRAM;
    if (!expression)
        return PLM_NVRTC_INVALID_INPUT;
    if (program->compiled)
        return PLM_NVRTC_NAMES_AFTER_COMPILATION;
    name = calloc(1, sizeof *name);
    if (!name)
        return PLM_NVRTC_OUT_OF_MEMORY;
    name->expression = strdup(expression);
    name->lowered = lower(expression);
    if (!name->expression || !name->lowered) {
        free(name->expression);
        free(name->lowered);
        free(name);
        return PLM_NVRTC_OUT_OF_MEMORY;
    }
    name->next = program->names;
    program->names = name;
    return PLM_NVRTC_OK;
}

PLM_API int nvrtcGetLoweredName(struct plm_nvrtc_program *program, const char *expression, const char **lowered)
{
    if (!program)
        return PLM_NVRTC_INVALID_PROGRAM;
    if (!expression || !lowered)
        return PLM_NVRTC_INVALID_INPUT;
    if (!program->compiled)
        return PLM_NVRTC_LOWERED_BEFORE_COMPILATION;
    for (struct plm_nvrtc_name *name = program->names; name; name = name->next)
        if (!strcmp(name->expression, expression)) {
            *lowered = name->lowered;
            return PLM_NVRTC_OK;
        }
    return PLM_NVRTC_NAME_NOT_VALID;
}

static int image_size(const struct plm_nvrtc_program *program, size_t *size)
{
    if (!program || !program->compiled)
        return PLM_NVRTC_INVALID_PROGRAM;
    if (!size)
        return PLM_NVRTC_INVALID_INPUT;
    *size = strlen(program->image) + 1;
    return PLM_NVRTC_OK;
}

static int image_copy(const struct plm_nvrtc_program *program, char *out)
{
    if (!program || !program->compiled)
        return PLM_NVRTC_INVALID_PROGRAM;
    if (!out)
        return PLM_NVRTC_INVALID_INPUT;
    strcpy(out, program->image);
    return PLM_NVRTC_OK;
}

PLM_API int nvrtcGetPTXSize(const struct plm_nvrtc_program *program, size_t *size)
{
    return image_size(program, size);
}

PLM_API int nvrtcGetPTX(const struct plm_nvrtc_program *program, char *ptx)
{
    return image_copy(program, ptx);
}

PLM_API int nvrtcGetCUBINSize(const struct plm_nvrtc_program *program, size_t *size)
{
    return image_size(program, size);
}

PLM_API int nvrtcGetCUBIN(const struct plm_nvrtc_program *program, char *cubin)
{
    return image_copy(program, cubin);
}

PLM_API int nvrtcGetProgramLogSize(const struct plm_nvrtc_program *program, size_t *size)
{
    if (!program)
        return PLM_NVRTC_INVALID_PROGRAM;
    if (!size)
        return PLM_NVRTC_INVALID_INPUT;
    *size = 1;
    return PLM_NVRTC_OK;
}

PLM_API int nvrtcGetProgramLog(const struct plm_nvrtc_program *program, char *log)
{
    if (!program)
        return PLM_NVRTC_INVALID_PROGRAM;
    if (!log)
        return PLM_NVRTC_INVALID_INPUT;
    log[0] = '\0';
    return PLM_NVRTC_OK;
}

PLM_API int nvrtcGetPCHCreateStatus(const struct plm_nvrtc_program *program)
{
    return program ? PLM_NVRTC_NO_PCH_ATTEMPTED : PLM_NVRTC_INVALID_PROGRAM;
}
