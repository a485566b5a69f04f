#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "shim/cuda/driver.h"
#include "shim/cuda/procs.h"

/*
 * Entry points by base name and version: of "cuMemAlloc" and "cuMemAlloc_v2", the newest that the
 * asked version of CUDA knew.
 */

enum query_result { FOUND = 0, NO_SUCH_NAME = 1, TOO_OLD = 2 };
enum { PER_THREAD_STREAM = 2 };

/* Base names that came to mean a function of another name. */
static const struct {
    const char *base;
    int since;
    const char *name;
} renamed[] = {
    {"cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags"},
};

/* "cuMemAlloc_v2" is an edition of "cuMemAlloc"; "cuMemAllocHost" and "cuMemcpy_v2_ptds" are not. */
static bool is_edition(const char *name, const char *base, size_t length)
{
    if (strncmp(name, base, length) != 0)
        return false;
    name += length;
    if (!*name)
        return true;
    if (name[0] != '_' || name[1] != 'v' || !isdigit((unsigned char)name[2]))
        return false;
    for (name += 3; isdigit((unsigned char)*name);)
        name++;
    return !*name;
}

static const struct plm_proc *by_name(const char *name)
{
    for (unsigned i = 0; i < plm_procs_count; i++)
        if (!strcmp(plm_procs[i].name, name))
            return &plm_procs[i];
    return NULL;
}

/* Editions are numbered in the order in which they came, so of two the longer or greater name is newer. */
static bool newer(const struct plm_proc *a, const struct plm_proc *b)
{
    return !b || a->since > b->since || (a->since == b->since && strcmp(a->name, b->name) > 0);
}

static const struct plm_proc *newest(const char *base, int version, bool *exists)
{
    const struct plm_proc *best = NULL;
    size_t length = strlen(base);

    *exists = false;
    for (unsigned i = 0; i < plm_procs_count; i++) {
        const struct plm_proc *p = &plm_procs[i];
        if (!is_edition(p->name, base, length))
            continue;
        *exists = true;
        if (p->since <= version && newer(p, best))
            best = p;
    }
    for (size_t i = 0; i < sizeof renamed / sizeof renamed[0]; i++)
        if (!strcmp(renamed[i].base, base) && version >= renamed[i].since)
            best = by_name(renamed[i].name);
    return best;
}

static const struct plm_proc *per_thread(const struct plm_proc *p)
{
    static const char *const suffixes[] = {"_ptsz", "_ptds"};
    char name[128];
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        const struct plm_proc *other;
        snprintf(name, sizeof name, "%s%s", p->name, suffixes[i]);
        other = by_name(name);
        if (other)
            return other;
    }
    return p;
}

PLM_API int cuGetProcAddress_v2(const char *base, const void **out, int version, uint64_t flags, int *result)
{
    const struct plm_proc *p;
    bool exists;

    if (!base || !out || version > PLM_CU_DRIVER_VERSION)
        return PLM_CU_INVALID_VALUE;
    p = newest(base, version, &exists);
    if (p && (flags & PER_THREAD_STREAM))
        p = per_thread(p);
    *out = p ? p->address : NULL;
    if (result)
        *result = p ? FOUND : exists ? TOO_OLD : NO_SUCH_NAME;
    return 0;
}

/* The first edition had no result besides the error. */
PLM_API int cuGetProcAddress(const char *base, const void **out, int version, uint64_t flags)
{
    int result = FOUND, status = cuGetProcAddress_v2(base, out, version, flags, &result);
    return status == 0 && result != FOUND ? PLM_CU_NOT_FOUND : status;
}
