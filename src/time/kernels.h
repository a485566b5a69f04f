/*
 * What a kernel does, told from its name: of which class it is, how often it goes over the tensors of its operator, and
 * how large their elements are. Names are mangled C++ as PyTorch registers them, or a library's routine. Pure; any
 * thread.
 */
#ifndef PLM_TIME_KERNELS_H
#define PLM_TIME_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "time/works.h"

struct plm_time_kernel_form {
    uint8_t class;      /* enum plm_work_class */
    uint8_t pointers;   /* elementwise: tensors, the result included */
    uint8_t bytes_per;  /* of an element */
    uint8_t from_bytes; /* casts: of an element that is read; 0: no cast */
    uint8_t columns;    /* reductions: results that a thread computes side by side; 0: one */
    bool strided;       /* goes through its tensors by strides */
    float reads, writes;/* how often it goes over the largest input, and over the largest output */
    uint16_t taps;      /* depthwise: of the filter; 0: the name does not tell */
    uint16_t rows;      /* attention: queries of a block */
    uint16_t head;      /* and the size of a head; 0: the name does not tell */
    bool backward;
};

struct plm_time_kernel_form plm_time_kernel_form(const char *name);

#endif
