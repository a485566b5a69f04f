#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "device/internal.h"
#include "torch/facts.h"
#include "device/lock.h"

/* RTLD_NEXT and RTLD_DEFAULT do not see libraries that were opened RTLD_LOCAL, and torch's are. */

struct search {
    const char *file;
    char path[4096];
};

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *s = data;
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (!slash || strcmp(slash + 1, s->file))
        return 0;
    snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
    return 1;
}

void *plm_loaded(const char *file)
{
    struct search s = {.file = file};
    plm_lock_check_none();
    dl_iterate_phdr(visit, &s);
    return s.path[0] ? dlopen(s.path, RTLD_NOLOAD | RTLD_LAZY) : NULL;
}

void *plm_torch_function(enum plm_torch_fact fact)
{
    void *library = plm_loaded(plm_torch_row(fact)->library);
    return library ? dlsym(library, plm_torch_row(fact)->name) : NULL;
}
