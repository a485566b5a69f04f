#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

#include "device/internal.h"
#include "torch/facts.h"

/*
 * Which PyTorch operator is running? Every operator is called through a function
 * at::_ops::NAME::call(...) of libtorch, whose mangled name is exported. Walking the stack for the
 * innermost of them costs some microseconds; it is done for read-backs only, which are rare.
 */

struct walk {
    char *out;
    unsigned size;
    int frames;
};

/* "_ZN2at4_ops7nonzero4callE..." holds the name with its length in front. */
static int operator_of(const char *symbol, char *out, unsigned size)
{
    static const char prefix[] = PLM_TORCH_OPERATOR_PREFIX;
    unsigned length = 0;
    const char *p;
    if (strncmp(symbol, prefix, sizeof prefix - 1))
        return 0;
    for (p = symbol + sizeof prefix - 1; *p >= '0' && *p <= '9' && length < 1000; p++)
        length = length * 10 + (unsigned)(*p - '0');
    if (!length || strnlen(p, length) < length)
        return 0;
    snprintf(out, size, "aten::%.*s", (int)length, p);
    return 1;
}

static _Unwind_Reason_Code frame_visit(struct _Unwind_Context *context, void *data)
{
    struct walk *w = data;
    Dl_info info;
    void *at = (void *)_Unwind_GetIP(context);
    if (++w->frames > 96)
        return _URC_END_OF_STACK;
    if (at && dladdr(at, &info) && info.dli_sname && operator_of(info.dli_sname, w->out, w->size))
        return _URC_END_OF_STACK;
    return _URC_NO_REASON;
}

const char *plm_operator_name(char *buffer, unsigned size)
{
    struct walk w = {buffer, size, 0};
    buffer[0] = '\0';
    _Unwind_Backtrace(frame_visit, &w);
    return buffer;
}
