#include "shim/cuda/driver.h"

/* Private tables are never imitated. Who asks for one has a CUDA runtime of its own linked in, which
   the report names: such a library cannot be served. */
PLM_API int cuGetExportTable(const void **table, const struct plm_cu_uuid *id)
{
    static const struct plm_symbol symbol = {"cuda", "cuGetExportTable"};
    (void)id;
    if (table)
        *table = NULL;
    plm_static_runtime_seen(__builtin_return_address(0));
    return plm_cu_refuse(&symbol);
}
