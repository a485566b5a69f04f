#include "device/values_views.h"

#include <string.h>

#include "device/internal.h"
#include "device/known.h"
#include "device/promised.h"
#include "device/values.h"

/* ---- tensors, as runs of bytes ---- */

static bool runs_do(const struct plm_tensors_view *v, unsigned dimension, uint64_t at, plm_values_run *run)
{
    const bool last = dimension + 1 >= v->dimensions;
    if (!v->dimensions)
        return run(at, v->element_bytes);
    if (last && (v->strides[dimension] == 1 || v->sizes[dimension] == 1))
        return run(at, (uint64_t)v->sizes[dimension] * v->element_bytes);
    for (int64_t i = 0; i < v->sizes[dimension]; i++, at += (uint64_t)v->strides[dimension] * v->element_bytes)
        if (last ? !run(at, v->element_bytes) : !runs_do(v, dimension + 1, at, run))
            return false;
    return true;
}

bool plm_values_each_run(const struct plm_tensors_view *v, plm_values_run *run)
{
    if (!v->elements || !v->data)
        return true;
    if (v->extent == v->elements * v->element_bytes || v->elements > PLM_VALUES_ELEMENTS)
        return run(v->data, v->extent);
    return runs_do(v, 0, v->data, run);
}

bool plm_values_run_clear(uint64_t address, uint64_t bytes)
{
    plm_promises_forget(address, bytes);
    plm_known_clear(address, bytes);
    return true;
}

bool plm_values_run_set(uint64_t address, uint64_t bytes)
{
    plm_promises_forget(address, bytes);
    plm_known_set(address, bytes);
    plm_memory_written(address, bytes, plm_launch_count());
    return true;
}

bool plm_values_run_zero(uint64_t address, uint64_t bytes)
{
    memset((void *)address, 0, bytes);
    return plm_values_run_set(address, bytes);
}

bool plm_values_run_assume(uint64_t address, uint64_t bytes)
{
    plm_known_assume(address, bytes);
    return true;
}

bool plm_values_run_true(uint64_t address, uint64_t bytes)
{
    memset((void *)address, 1, bytes);
    return plm_values_run_set(address, bytes);
}

bool plm_values_on_device(const struct plm_tensors_view *v)
{
    return v->data && plm_memory_device_of(v->data) >= 0;
}

bool plm_values_known(const struct plm_tensors_view *v)
{
    if (!plm_values_on_device(v))
        return true;
    plm_promises_settle(v->data, v->extent);
    return plm_known(v->data, v->extent) ||
           (v->extent != v->elements * v->element_bytes && plm_values_each_run(v, plm_known));
}

bool plm_values_can_hold(const struct plm_tensors_view *v)
{
    return v->elements <= PLM_VALUES_ELEMENTS && (!plm_values_on_device(v) || plm_memory_backed(v->data, v->extent));
}

/* ---- tensors, element by element: which of them are known ---- */

/* A run of elements that follow each other; `known` has a byte for each, and is filled. */
static void row_mask(const struct plm_tensors_view *v, uint64_t at, uint64_t count, char *known)
{
    uint64_t done = 0;
    while (done < count) {
        bool is;
        const uint64_t from = at + done * v->element_bytes;
        const uint64_t alike = plm_known_run(from, (count - done) * v->element_bytes, &is) / v->element_bytes;
        if (alike)
            memset(known + done, is, alike);
        else
            known[done] = (char)plm_known(from, v->element_bytes);
        done += alike ? alike : 1;
    }
}

/* The same, where `known` says what is from now on. */
static void row_set(const struct plm_tensors_view *v, uint64_t at, uint64_t count, char *known)
{
    for (uint64_t done = 0, alike; done < count; done += alike) {
        const char *other = memchr(known + done, !known[done], count - done);
        alike = other ? (uint64_t)(other - (known + done)) : count - done;
        (known[done] ? plm_values_run_set : plm_values_run_clear)(at + done * v->element_bytes,
                                                                  alike * v->element_bytes);
    }
}

typedef void row_function(const struct plm_tensors_view *v, uint64_t at, uint64_t count, char *known);

/* Rows of `count` elements, in the order of the `dimensions` before them. Returns what comes after the last of them in `known`. */
static char *rows_do(const struct plm_tensors_view *v, unsigned dimension, unsigned dimensions, uint64_t at,
                     uint64_t count, char *known, row_function *row)
{
    if (dimension == dimensions) {
        row(v, at, count, known);
        return known + count;
    }
    for (int64_t i = 0; i < v->sizes[dimension]; i++, at += (uint64_t)v->strides[dimension] * v->element_bytes)
        known = rows_do(v, dimension + 1, dimensions, at, count, known, row);
    return known;
}

static void mask_do(const struct plm_tensors_view *v, char *known, row_function *row)
{
    unsigned before = v->dimensions;
    uint64_t count = 1;
    while (before && (v->sizes[before - 1] == 1 || (uint64_t)v->strides[before - 1] == count))
        count *= (uint64_t)v->sizes[--before];
    if (v->elements)
        rows_do(v, 0, before, v->data, count, known, row);
}

void plm_values_mask(const struct plm_tensors_view *v, char *known)
{
    if (!plm_values_on_device(v))
        memset(known, 1, v->elements);
    else if (!plm_memory_backed(v->data, v->extent))
        memset(known, 0, v->elements);
    else
        mask_do(v, known, row_mask);
}

void plm_values_mask_set(const struct plm_tensors_view *v, char *known)
{
    mask_do(v, known, row_set);
}

bool plm_values_some_known(const struct plm_tensors_view *v)
{
    return !plm_values_on_device(v) || plm_known_any(v->data, v->extent);
}

void plm_values_each_tensor(struct plm_ivalues values, plm_values_look *look, void *data)
{
    for (uint64_t i = 0; i < values.count; i++) {
        const struct plm_ivalue *v = &values.first[i];
        const enum plm_ivalue_kind kind = plm_ivalue_kind(v);
        const struct plm_ivalues list =
            kind == PLM_IVALUE_LIST ? plm_ivalue_list(v) : (struct plm_ivalues){v, kind == PLM_IVALUE_TENSOR};
        for (uint64_t k = 0; k < list.count; k++) {
            struct plm_tensors_view view;
            if (plm_ivalue_kind(&list.first[k]) != PLM_IVALUE_TENSOR)
                continue;
            plm_tensors_view(list.first[k].payload, &view);
            if (!view.undefined)
                look(&view, i < 64 ? (unsigned)i : 63, data);
        }
    }
}
