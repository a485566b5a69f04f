/* The matrix descriptor of the routines that predate the generic interface: four remembered enums. */
#include <stdlib.h>

#include "shim/cusparse/cusparse.h"

struct matdescr {
    int type, fill, diag, base;
};

PLM_API int cusparseCreateMatDescr(struct matdescr **out)
{
    if (!out)
        return SPARSE_INVALID_VALUE;
    *out = calloc(1, sizeof **out); /* general, lower, non-unit, zero-based: all 0, as documented */
    return *out ? SPARSE_OK : SPARSE_ALLOC_FAILED;
}

PLM_API int cusparseDestroyMatDescr(struct matdescr *descr)
{
    free(descr);
    return SPARSE_OK;
}

/* The getters return the value itself, not a status. */
#define FIELD(Name, field)                                              \
    PLM_API int cusparseSetMat##Name(struct matdescr *descr, int value) \
    {                                                                   \
        if (!descr)                                                     \
            return SPARSE_INVALID_VALUE;                                \
        descr->field = value;                                           \
        return SPARSE_OK;                                               \
    }                                                                   \
    PLM_API int cusparseGetMat##Name(const struct matdescr *descr)      \
    {                                                                   \
        return descr ? descr->field : 0;                                \
    }

FIELD(Type, type)
FIELD(FillMode, fill)
FIELD(DiagType, diag)
FIELD(IndexBase, base)
