#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/internal.h"

/*
 * Loads the hook into the user's Python without touching the script: when PyTorch's libraries
 * register their kernels, which happens inside `import torch`, the interpreter is asked to run a
 * pending call as soon as it can. Works under `python -I` and beside a sitecustomize of the user's.
 * Only public functions of the Python C API are used, found at run time.
 */

typedef int add_pending_call(int (*)(void *), void *);
typedef int run_simple_string(const char *);

static int load_hook(void *argument)
{
    static const char format[] = "try:\n"
                                 "    import importlib.util as _plm_u, sys as _plm_s\n"
                                 "    if 'plimsoll_hook' not in _plm_s.modules:\n"
                                 "        _plm_p = _plm_u.spec_from_file_location('plimsoll_hook', %s)\n"
                                 "        _plm_m = _plm_u.module_from_spec(_plm_p)\n"
                                 "        _plm_s.modules['plimsoll_hook'] = _plm_m\n"
                                 "        _plm_p.loader.exec_module(_plm_m)\n"
                                 "        del _plm_p, _plm_m\n"
                                 "    del _plm_u, _plm_s\n"
                                 "except BaseException:\n"
                                 "    pass\n";
    run_simple_string *run = (run_simple_string *)dlsym(RTLD_DEFAULT, "PyRun_SimpleString");
    const char *path = getenv("PLIMSOLL_HOOK");
    char quoted[2 * 4096 + 8], code[sizeof quoted + sizeof format], *q = quoted;

    (void)argument;
    if (!run || !path || strlen(path) >= 4096)
        return 0;
    *q++ = '\'';
    for (; *path; path++) {
        if (*path == '\'' || *path == '\\')
            *q++ = '\\';
        *q++ = *path;
    }
    *q++ = '\'';
    *q = '\0';
    snprintf(code, sizeof code, format, quoted);
    run(code);
    return 0;
}

void plm_inject_hook(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;
    add_pending_call *add;
    if (atomic_flag_test_and_set(&done))
        return;
    add = (add_pending_call *)dlsym(RTLD_DEFAULT, "Py_AddPendingCall");
    if (add)
        add(load_hook, NULL);
}
