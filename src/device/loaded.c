#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "device/internal.h"
#include "device/lock.h"
#include "torch/facts.h"

static struct plm_lock libraries_lock = PLM_LOCK_INIT(PLM_LOCK_LIBRARIES);
PLM_LOCK_JOINS(libraries_lock)

/* dl_iterate_phdr holds a lock of glibc's that fork() does not free in a child. With a lock of ours around it, no thread of
   ours is inside when the process forks. */
void plm_libraries_each(int (*look)(struct dl_phdr_info *, size_t, void *), void *data)
{
    plm_lock_take(&libraries_lock);
    dl_iterate_phdr(look, data);
    plm_lock_give(&libraries_lock);
}

/* RTLD_NEXT and RTLD_DEFAULT do not see libraries that were opened RTLD_LOCAL, and torch's are. */

struct search {
    const char *file;
    char path[4096];
};

static int library_visit(struct dl_phdr_info *info, size_t size, void *data)
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
    plm_libraries_each(library_visit, &s);
    return s.path[0] ? dlopen(s.path, RTLD_NOLOAD | RTLD_LAZY) : NULL;
}

void *plm_device_torch_function(enum plm_torch_fact fact)
{
    void *library = plm_loaded(plm_torch_row(fact)->library);
    return library ? dlsym(library, plm_torch_row(fact)->name) : NULL;
}
