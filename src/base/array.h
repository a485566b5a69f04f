/* Arrays that grow. Pure functions of their arguments; any thread. */
#ifndef PLM_ARRAY_H
#define PLM_ARRAY_H

#include <stdint.h>
#include <stdlib.h>

/* An array with room for one more item than `count`: the same one, or a larger copy with *room raised.
   NULL if there is no memory; the old array is untouched then. */
static inline void *plm_grow(void *array, size_t count, size_t *room, size_t size)
{
    size_t wanted = *room ? 2 * *room : 16;
    void *more;
    if (count < *room)
        return array;
    more = wanted > *room ? reallocarray(array, wanted, size) : NULL;
    if (more)
        *room = wanted;
    return more;
}

#endif
