/*
 * The Python stack of the calling thread, walked through Python's public frame interface (3.9 and later), which is looked up
 * when the program runs. Any thread; without Python, or in a thread that never ran it, the stack is empty.
 *
 * PyTorch gives the interpreter up around its operators, and frames may be looked at only by who holds it. So a thread that
 * does not takes it for the walk, as PyTorch's own recorder of stacks does in the same place. Nobody may call this who holds
 * a lock that a thread with the interpreter waits for: of plimsoll's none, of PyTorch's not that of the caching allocator.
 */
#ifndef PLM_DEVICE_PYTHON_STACK_H
#define PLM_DEVICE_PYTHON_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Are stacks to be recorded, and can they be? False unless PLIMSOLL_STACKS says so and Python has been found. */
bool plm_python_stack_wanted(void);
/* Called once the interpreter runs; false: this Python lacks what is needed. */
bool plm_python_stack_start(void);

/* Number of the stack (a FRAME of the record), 0: not known. Of the thread's own calls the outermost `skip` are left out,
   and `caller` is in their place. The innermost PLM_PYTHON_STACK_DEPTH are kept. `depth`, if not NULL, becomes how many the
   thread is in. */
enum { PLM_PYTHON_STACK_DEPTH = 64 };
uint32_t plm_python_stack(uint32_t caller, unsigned skip, unsigned *depth);

#endif
