#include "device/python_api.h"

#include <dlfcn.h>
#include <stddef.h>

struct plm_python plm_python;

#define WANTED(type, name, arguments, symbol) {#symbol, (void **)&plm_python.name},
static const struct {
    const char *symbol;
    void **slot;
} wanted[] = {PLM_PYTHON_FUNCTIONS(WANTED){"_Py_NoneStruct", (void **)&plm_python.none}};

bool plm_python_find(void)
{
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *wanted[i].slot = dlsym(RTLD_DEFAULT, wanted[i].symbol);
        if (!*wanted[i].slot)
            return false;
    }
    return true;
}

struct plm_object *plm_python_none(void)
{
    plm_python.keep(plm_python.none);
    return plm_python.none;
}
