/*
 * What is known of tensors whose values are not: that they are not negative, or that they point the other way (values_marks.c has
 * a table for each). Of each tensor the address of its first element: a view that begins there is a part of it, and
 * whatever writes it anew begins there too. One that is forgotten only leaves open what was open before.
 *
 * Any thread, without locks; never fails.
 */
#ifndef PLM_DEVICE_VALUES_MARKS_H
#define PLM_DEVICE_VALUES_MARKS_H

#include <stdbool.h>
#include <stdint.h>

enum plm_values_mark {
    PLM_VALUES_MARK_BOUNDED, /* not negative */
    PLM_VALUES_MARK_TURNED,  /* the negative of something, or a difference: a direction of descent */
    PLM_VALUES_MARKS
};

bool plm_values_mark_has(enum plm_values_mark mark, uint64_t address);
void plm_values_mark_set(enum plm_values_mark mark, uint64_t address);
void plm_values_mark_forget(enum plm_values_mark mark, uint64_t address);

#endif
