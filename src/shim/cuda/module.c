#include "shim/cuda/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/lock.h"
#include "shim/cuda/driver.h"

/* Modules and libraries share what is in this file; see library.c for the other half's entry points. */

/* A variable's size stands in its image, which is not kept. This is the largest __constant__ one. */
enum { VARIABLE_BYTES = 64 * 1024 };

struct variable {
    char *name;
    uint64_t address;
    struct variable *next;
};

struct loaded {
    struct plm_module *module;
    struct plm_cu_names names;
    struct variable *variables;
    struct loaded *next;
};

static struct loaded *all;
static struct plm_lock modules_lock = PLM_LOCK_INIT(PLM_LOCK_SHIM);
PLM_LOCK_JOINS(modules_lock)

/* With the lock held. */
static struct loaded **loaded_find(const struct plm_module *module)
{
    struct loaded **link = &all;
    while (*link && (*link)->module != module)
        link = &(*link)->next;
    return link;
}

int plm_cu_module_open(const void *image, const struct plm_card *card, struct plm_module **out)
{
    struct plm_module *module;
    struct loaded *entry;
    int status;

    if (!image || !out)
        return PLM_CU_INVALID_VALUE;
    status = plm_cu_from_module(plm_module_open(image, &module));
    if (status)
        return status;
    entry = calloc(1, sizeof *entry);
    if (!entry || (card && !plm_module_runs_on(module, card))) {
        plm_module_close(module);
        status = entry ? PLM_CU_NO_BINARY : PLM_CU_OUT_OF_MEMORY;
        free(entry);
        return status;
    }
    entry->module = module;
    plm_cu_names_read(image, &entry->names);
    plm_module_expect(module, entry->names.count, false);
    plm_lock_take(&modules_lock);
    entry->next = all;
    all = entry;
    plm_lock_give(&modules_lock);
    *out = module;
    return 0;
}

char *plm_cu_read_file(const char *path, size_t *length)
{
    FILE *in = fopen(path, "rbe");
    char *text = NULL;
    long size = -1;
    if (!in)
        return NULL;
    if (fseek(in, 0, SEEK_END) == 0)
        size = ftell(in);
    if (size >= 0 && fseek(in, 0, SEEK_SET) == 0)
        text = calloc(1, (size_t)size + 64); /* headers may be looked at beyond a short file's end */
    if (text && fread(text, 1, (size_t)size, in) != (size_t)size) {
        free(text);
        text = NULL;
    }
    fclose(in);
    *length = size > 0 ? (size_t)size : 0;
    return text;
}

int plm_cu_module_open_file(const char *path, const struct plm_card *card, struct plm_module **out)
{
    char *image;
    size_t size;
    int status;
    if (!path || !out)
        return PLM_CU_INVALID_VALUE;
    image = plm_cu_read_file(path, &size);
    if (!image)
        return PLM_CU_FILE_NOT_FOUND;
    status = plm_cu_module_open(image, card, out);
    free(image);
    return status;
}

static void free_variable(struct variable *v)
{
    if (v->address)
        plm_mem_free(v->address);
    free(v->name);
    free(v);
}

int plm_cu_module_close(struct plm_module *module)
{
    struct loaded **link, *entry;
    plm_lock_take(&modules_lock);
    link = loaded_find(module);
    entry = *link;
    if (entry)
        *link = entry->next;
    plm_lock_give(&modules_lock);
    if (!entry)
        return PLM_CU_INVALID_HANDLE;
    while (entry->variables) {
        struct variable *v = entry->variables;
        entry->variables = v->next;
        free_variable(v);
    }
    plm_cu_names_free(&entry->names);
    free(entry);
    plm_module_close(module);
    return 0;
}

int plm_cu_module_count(struct plm_module *module, unsigned *count, const char *caller)
{
    const struct plm_symbol symbol = {"cuda", caller};
    struct loaded *entry;
    int status = PLM_CU_INVALID_HANDLE;

    if (!count)
        return PLM_CU_INVALID_VALUE;
    plm_lock_take(&modules_lock);
    entry = *loaded_find(module);
    if (entry) {
        *count = entry->names.count;
        status = entry->names.known ? 0 : PLM_CU_NOT_SUPPORTED;
    }
    plm_lock_give(&modules_lock);
    return status == PLM_CU_NOT_SUPPORTED ? plm_cu_refuse(&symbol) : status;
}

int plm_cu_module_list(struct plm_module *module, struct plm_kernel **out, unsigned count, const char *caller)
{
    unsigned all_names = 0;
    int status = out ? plm_cu_module_count(module, &all_names, caller) : PLM_CU_INVALID_VALUE;
    struct loaded *entry;

    if (status)
        return status;
    plm_lock_take(&modules_lock);
    entry = *loaded_find(module);
    plm_lock_give(&modules_lock);
    /* Its names stay as they are until the program unloads it, and the kernels with it. */
    for (unsigned i = 0; entry && status == 0 && i < count && i < entry->names.count; i++)
        status = plm_cu_from_module(plm_module_kernel(module, entry->names.name[i], &out[i]));
    return status;
}

static int new_variable(const char *name, bool managed, int device, struct variable **out)
{
    struct variable *v = calloc(1, sizeof *v);
    int status;
    if (!v || !(v->name = strdup(name))) {
        free(v);
        return PLM_CU_OUT_OF_MEMORY;
    }
    status = managed ? plm_mem_managed(device, VARIABLE_BYTES, &v->address)
                     : plm_mem_alloc(device, VARIABLE_BYTES, &v->address);
    if (status) {
        free_variable(v);
        return plm_cu_from_device(status);
    }
    *out = v;
    return 0;
}

/* The address of the variable if there is one of that name. If not, *added becomes it and is NULL then; without one
   *address is 0. */
static int find_variable(struct plm_module *module, const char *name, struct variable **added, uint64_t *address)
{
    struct loaded *entry;
    struct variable *v;

    plm_lock_take(&modules_lock);
    entry = *loaded_find(module);
    for (v = entry ? entry->variables : NULL; v && strcmp(v->name, name) != 0;)
        v = v->next;
    if (entry && !v && *added) {
        v = *added;
        v->next = entry->variables;
        entry->variables = v;
        *added = NULL;
    }
    *address = v ? v->address : 0;
    plm_lock_give(&modules_lock);
    return entry ? 0 : PLM_CU_INVALID_HANDLE;
}

int plm_cu_module_variable(struct plm_module *module, const char *name, bool managed, uint64_t *address, size_t *size)
{
    struct variable *added = NULL;
    uint64_t at;
    int status;

    if (!name || (!address && !size))
        return PLM_CU_INVALID_VALUE;
    status = find_variable(module, name, &added, &at);
    if (status == 0 && !at) {
        status = new_variable(name, managed, plm_device_current(), &added);
        if (status == 0)
            status = find_variable(module, name, &added, &at);
        if (added)
            free_variable(added); /* another thread was faster, or unloaded the module */
    }
    if (status)
        return status;
    if (address)
        *address = at;
    if (size)
        *size = VARIABLE_BYTES;
    return 0;
}

/* ---- entry points ---- */

PLM_API int cuModuleLoad(struct plm_module **out, const char *path)
{
    int device, status = plm_cu_device(&device);
    return status ? status : plm_cu_module_open_file(path, plm_device_card(device), out);
}

PLM_API int cuModuleLoadData(struct plm_module **out, const void *image)
{
    int device, status = plm_cu_device(&device);
    return status ? status : plm_cu_module_open(image, plm_device_card(device), out);
}
PLM_API int cuModuleLoadFatBinary(struct plm_module **out, const void *image)
    __attribute__((alias("cuModuleLoadData")));

/* Options of the compiler that runs on PTX, by number. */
enum { JIT_WALL_TIME = 2, JIT_INFO_BUFFER = 3, JIT_INFO_SIZE = 4, JIT_ERROR_BUFFER = 5, JIT_ERROR_SIZE = 6 };

static uintptr_t option_value(unsigned count, const int *options, void *const *values, int wanted)
{
    for (unsigned i = 0; i < count; i++)
        if (options[i] == wanted)
            return (uintptr_t)values[i];
    return 0;
}

void plm_cu_empty_messages(unsigned count, const int *options, void **values)
{
    if (!options || !values)
        return;
    for (int buffer = JIT_INFO_BUFFER; buffer <= JIT_ERROR_BUFFER; buffer += 2) {
        char *text = (char *)option_value(count, options, values, buffer);
        if (text && option_value(count, options, values, buffer + 1))
            *text = '\0';
    }
    for (unsigned i = 0; i < count; i++)
        if (options[i] == JIT_INFO_SIZE || options[i] == JIT_ERROR_SIZE || options[i] == JIT_WALL_TIME)
            values[i] = NULL;
}

PLM_API int cuModuleLoadDataEx(struct plm_module **out, const void *image, unsigned count, int *options, void **values)
{
    plm_cu_empty_messages(count, options, values);
    return cuModuleLoadData(out, image);
}

PLM_API int cuModuleUnload(struct plm_module *module)
{
    return plm_cu_module_close(module);
}

PLM_API int cuModuleGetFunction(struct plm_kernel **out, struct plm_module *module, const char *name)
{
    if (!out || !name)
        return PLM_CU_INVALID_VALUE;
    if (!module)
        return PLM_CU_INVALID_HANDLE;
    return plm_cu_from_module(plm_module_kernel(module, name, out));
}

PLM_API int cuModuleGetFunctionCount(unsigned *count, struct plm_module *module)
{
    return plm_cu_module_count(module, count, "cuModuleGetFunctionCount");
}

PLM_API int cuModuleEnumerateFunctions(struct plm_kernel **out, unsigned count, struct plm_module *module)
{
    return plm_cu_module_list(module, out, count, "cuModuleEnumerateFunctions");
}

PLM_API int cuModuleGetGlobal_v2(uint64_t *address, size_t *size, struct plm_module *module, const char *name)
{
    return plm_cu_module_variable(module, name, false, address, size);
}
