#include <stdatomic.h>
#include <stdlib.h>

#include "shim/cuda/driver.h"

/*
 * User objects: a destructor that runs when the last reference goes. References given to a graph are
 * never given back, since graphs here do not know who holds on to them: the destructor then does not
 * run, which an application cannot tell from a graph that is still in use.
 */

struct user_object {
    void *value;
    void (*destroy)(void *value);
    _Atomic unsigned references;
};

PLM_API int cuUserObjectCreate(struct user_object **out, void *value, void (*destroy)(void *), unsigned references,
                               unsigned flags)
{
    (void)flags;
    if (!out || !destroy || !references)
        return PLM_CU_INVALID_VALUE;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return PLM_CU_OUT_OF_MEMORY;
    (*out)->value = value;
    (*out)->destroy = destroy;
    atomic_store(&(*out)->references, references);
    return 0;
}

PLM_API int cuUserObjectRetain(struct user_object *object, unsigned count)
{
    if (!object || !count)
        return PLM_CU_INVALID_VALUE;
    atomic_fetch_add(&object->references, count);
    return 0;
}

PLM_API int cuUserObjectRelease(struct user_object *object, unsigned count)
{
    unsigned before;
    if (!object || !count)
        return PLM_CU_INVALID_VALUE;
    before = atomic_fetch_sub(&object->references, count);
    if (before == count) {
        object->destroy(object->value);
        free(object);
    }
    return before >= count ? 0 : PLM_CU_INVALID_VALUE;
}

PLM_API int cuGraphRetainUserObject(struct plm_graph *graph, struct user_object *object, unsigned count, unsigned flags)
{
    enum { MOVE = 1 }; /* the caller's references become the graph's */
    if (!graph)
        return PLM_CU_INVALID_VALUE;
    return flags & MOVE ? 0 : cuUserObjectRetain(object, count);
}

PLM_API int cuGraphReleaseUserObject(struct plm_graph *graph, struct user_object *object, unsigned count)
{
    return graph ? cuUserObjectRelease(object, count) : PLM_CU_INVALID_VALUE;
}
