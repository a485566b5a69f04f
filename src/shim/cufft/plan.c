/*
 * cuFFT plans.
 *
 * A plan handle is a small integer: an index into a table that grows and is never freed. One lock
 * guards it; making plans is rare. Memory is taken and given back without the lock. Unless the program turned it off, making a plan allocates its work
 * area on the device, as the real library does, and destroying it gives it back.
 */
#include "shim/cufft/plan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "device/calls.h"
#include "device/device.h"
#include "device/footprint.h"
#include "device/lock.h"
#include "record/writer.h"
#include "device/shim.h"

enum { PROPERTIES = 3 }; /* numbers 1 and 2 are documented */

/* A work area on the device; the address is 0 if there is none. */
struct area {
    uint64_t address;
    size_t bytes;
    int device;
};

struct plan {
    bool used, manual; /* manual: the program provides the work area */
    size_t work;
    struct area area;  /* what we allocated */
    int64_t property[PROPERTIES];
};

static struct plm_lock plans_lock = PLM_LOCK_INIT(PLM_LOCK_SHIM);
PLM_LOCK_JOINS(plans_lock)
static struct plan *plans;
static int capacity;

/* Handles start at 1, so that a zeroed variable is not a plan. Call with the lock held. */
static struct plan *plan_of(int handle)
{
    return handle >= 1 && handle < capacity && plans[handle].used ? &plans[handle] : NULL;
}

static void release_area(struct area area)
{
    if (!area.address)
        return;
    plm_mem_free(area.address);
    plm_footprint_range(area.device, "cufft", 0, -2 * (int64_t)area.bytes);
}

/* What is documented are the extremes: nothing, and as much as the data or, with large prime factors, more. */
static int take_area(size_t bytes, struct area *out)
{
    *out = (struct area){0, bytes, plm_device_current()};
    if (plm_mem_library(out->device, "cufft", bytes, &out->address)) {
        out->address = 0;
        return PLM_CUFFT_ALLOC_FAILED;
    }
    plm_footprint_range(out->device, "cufft", 0, 2 * (int64_t)bytes);
    return PLM_CUFFT_SUCCESS;
}

/* Gives the plan another area and returns the one it had; the same area if there is no such plan. */
static struct area swap_area(int handle, struct area area, bool *found)
{
    struct plan *plan;
    struct area before = area;
    plm_lock_take(&plans_lock);
    plan = plan_of(handle);
    if (plan) {
        before = plan->area;
        plan->area = area;
    }
    plm_lock_give(&plans_lock);
    *found = plan != NULL;
    return before;
}

PLM_API int cufftCreate(int *handle)
{
    int found = 0;
    if (!handle)
        return PLM_CUFFT_INVALID_VALUE;
    plm_lock_take(&plans_lock);
    for (int i = 1; i < capacity && !found; i++)
        found = plans[i].used ? 0 : i;
    if (!found) {
        int more = capacity ? capacity * 2 : 64;
        struct plan *grown = realloc(plans, (size_t)more * sizeof *plans);
        if (!grown) {
            plm_lock_give(&plans_lock);
            return PLM_CUFFT_ALLOC_FAILED;
        }
        memset(grown + capacity, 0, (size_t)(more - capacity) * sizeof *plans);
        found = capacity ? capacity : 1;
        plans = grown;
        capacity = more;
    }
    plans[found] = (struct plan){.used = true};
    *handle = found;
    plm_lock_give(&plans_lock);
    return PLM_CUFFT_SUCCESS;
}

PLM_API int cufftDestroy(int handle)
{
    struct plan *plan;
    struct area area = {0};
    plm_lock_take(&plans_lock);
    plan = plan_of(handle);
    if (plan) {
        area = plan->area;
        plan->used = false;
    }
    plm_lock_give(&plans_lock);
    release_area(area);
    return plan ? PLM_CUFFT_SUCCESS : PLM_CUFFT_INVALID_PLAN;
}

/* For `plimsoll calibrate`, which measures what a job used. */
static void note(const struct plm_transform *transform)
{
    const struct plm_fft_shape row = plm_transform_row(transform);
    char text[PLM_ROW_TEXT];
    if (plm_call_wanted() && plm_fft_text(&row, text, sizeof text))
        plm_record_config("fft", text);
}

/* Notes what the plan needs; *manual: the program provides it. */
static int set_work(int handle, size_t work, bool *manual)
{
    struct plan *plan;
    plm_lock_take(&plans_lock);
    plan = plan_of(handle);
    if (plan) {
        plan->work = work;
        *manual = plan->manual;
    }
    plm_lock_give(&plans_lock);
    return plan ? PLM_CUFFT_SUCCESS : PLM_CUFFT_INVALID_PLAN;
}

static int make(int handle, const struct plm_transform *transform, size_t *work_size)
{
    struct area area = {0};
    bool manual, found;
    size_t work;
    int result = plm_transform_work(transform, &work);

    if (!result)
        result = set_work(handle, work, &manual);
    if (result)
        return result;
    release_area(swap_area(handle, area, &found));
    plm_footprint_library(plm_device_current(), PLM_LIBRARY_CUFFT);
    if (!manual && work)
        result = take_area(work, &area);
    if (!result)
        release_area(swap_area(handle, area, &found)); /* one that another thread gave it meanwhile */
    if (!result)
        note(transform);
    if (!result && work_size)
        *work_size = work;
    return result;
}

/* ---- the shapes a transform comes in ---- */
static int shape_by_type(struct plm_transform *out, int type, int rank, const int64_t *n, int64_t batch)
{
    int result = plm_transform_of_type(out, type);
    return result ? result : plm_transform_shape(out, rank, n, batch);
}

static int shape_many(struct plm_transform *out, int type, int rank, const int *n, int64_t batch)
{
    int64_t wide[PLM_CUFFT_RANK_MAX];
    if (rank < 1 || rank > PLM_CUFFT_RANK_MAX || !n)
        return PLM_CUFFT_INVALID_VALUE;
    for (int i = 0; i < rank; i++)
        wide[i] = n[i];
    return shape_by_type(out, type, rank, wide, batch);
}

static int shape_data(struct plm_transform *out, int input, int output, int rank, const int64_t *n, int64_t batch)
{
    int result = plm_transform_of_data(out, input, output);
    return result ? result : plm_transform_shape(out, rank, n, batch);
}

/* Creates a handle, makes the plan and takes the handle back if that fails. */
static int create_and_make(int *handle, const struct plm_transform *transform)
{
    int created, result = cufftCreate(&created);
    if (result)
        return result;
    result = make(created, transform, NULL);
    if (result)
        cufftDestroy(created);
    else if (handle)
        *handle = created;
    return result;
}

static int query(const struct plm_transform *transform, size_t *work_size)
{
    size_t work;
    int result = plm_transform_work(transform, &work);
    if (!result && work_size)
        *work_size = work;
    return result;
}

#define UNUSED __attribute__((unused))

/* Each shape exists four times: plan and handle at once, make, estimate, size for a handle. `declare`
   is its argument list, `shape` turns the arguments into `t`. */
#define FAMILY(plan_name, make_name, estimate_name, size_name, shape, ...)   \
    PLM_API int plan_name(int *handle, __VA_ARGS__)                          \
    {                                                                        \
        struct plm_transform t;                                              \
        int result = shape;                                                  \
        return result ? result : create_and_make(handle, &t);                \
    }                                                                        \
    PLM_API int make_name(int handle, __VA_ARGS__, size_t *work_size)        \
    {                                                                        \
        struct plm_transform t;                                              \
        int result = shape;                                                  \
        return result ? result : make(handle, &t, work_size);                \
    }                                                                        \
    PLM_API int estimate_name(__VA_ARGS__, size_t *work_size)                \
    {                                                                        \
        struct plm_transform t;                                              \
        int result = shape;                                                  \
        return result ? result : query(&t, work_size);                       \
    }                                                                        \
    PLM_API int size_name(UNUSED int handle, __VA_ARGS__, size_t *work_size) \
    {                                                                        \
        struct plm_transform t;                                              \
        int result = shape;                                                  \
        return result ? result : query(&t, work_size);                       \
    }

FAMILY(cufftPlan1d, cufftMakePlan1d, cufftEstimate1d, cufftGetSize1d,
       shape_by_type(&t, type, 1, (const int64_t[]){nx}, batch), int nx, int type, int batch)
FAMILY(cufftPlan2d, cufftMakePlan2d, cufftEstimate2d, cufftGetSize2d,
       shape_by_type(&t, type, 2, ((const int64_t[]){nx, ny}), 1), int nx, int ny, int type)
FAMILY(cufftPlan3d, cufftMakePlan3d, cufftEstimate3d, cufftGetSize3d,
       shape_by_type(&t, type, 3, ((const int64_t[]){nx, ny, nz}), 1), int nx, int ny, int nz, int type)
FAMILY(cufftPlanMany, cufftMakePlanMany, cufftEstimateMany, cufftGetSizeMany, shape_many(&t, type, rank, n, batch),
       int rank, int *n, UNUSED int *inembed, UNUSED int istride, UNUSED int idist, UNUSED int *onembed,
       UNUSED int ostride, UNUSED int odist, int type, int batch)

PLM_API int cufftMakePlanMany64(int handle, int rank, int64_t *n, UNUSED int64_t *inembed, UNUSED int64_t istride,
                                UNUSED int64_t idist, UNUSED int64_t *onembed, UNUSED int64_t ostride,
                                UNUSED int64_t odist, int type, int64_t batch, size_t *work_size)
{
    struct plm_transform t;
    int result = shape_by_type(&t, type, rank, n, batch);
    return result ? result : make(handle, &t, work_size);
}

PLM_API int cufftGetSizeMany64(UNUSED int handle, int rank, int64_t *n, UNUSED int64_t *inembed, UNUSED int64_t istride,
                               UNUSED int64_t idist, UNUSED int64_t *onembed, UNUSED int64_t ostride,
                               UNUSED int64_t odist, int type, int64_t batch, size_t *work_size)
{
    struct plm_transform t;
    int result = shape_by_type(&t, type, rank, n, batch);
    return result ? result : query(&t, work_size);
}

PLM_API int cufftXtMakePlanMany(int handle, int rank, int64_t *n, UNUSED int64_t *inembed, UNUSED int64_t istride,
                                UNUSED int64_t idist, int input, UNUSED int64_t *onembed, UNUSED int64_t ostride,
                                UNUSED int64_t odist, int output, int64_t batch, size_t *work_size,
                                UNUSED int execution)
{
    struct plm_transform t;
    int result = shape_data(&t, input, output, rank, n, batch);
    return result ? result : make(handle, &t, work_size);
}

PLM_API int cufftXtGetSizeMany(UNUSED int handle, int rank, int64_t *n, UNUSED int64_t *inembed, UNUSED int64_t istride,
                               UNUSED int64_t idist, int input, UNUSED int64_t *onembed, UNUSED int64_t ostride,
                               UNUSED int64_t odist, int output, int64_t batch, size_t *work_size, UNUSED int execution)
{
    struct plm_transform t;
    int result = shape_data(&t, input, output, rank, n, batch);
    return result ? result : query(&t, work_size);
}

/* ---- what is set on a plan ---- */
PLM_API int cufftGetSize(int handle, size_t *work_size)
{
    struct plan *plan;
    plm_lock_take(&plans_lock);
    plan = plan_of(handle);
    if (plan && work_size)
        *work_size = plan->work;
    plm_lock_give(&plans_lock);
    return !plan ? PLM_CUFFT_INVALID_PLAN : work_size ? PLM_CUFFT_SUCCESS : PLM_CUFFT_INVALID_VALUE;
}

PLM_API int cufftSetAutoAllocation(int handle, int automatic)
{
    struct plan *plan;
    plm_lock_take(&plans_lock);
    plan = plan_of(handle);
    if (plan)
        plan->manual = !automatic;
    plm_lock_give(&plans_lock);
    return plan ? PLM_CUFFT_SUCCESS : PLM_CUFFT_INVALID_PLAN;
}

PLM_API int cufftSetWorkArea(int handle, UNUSED void *area)
{
    bool found;
    release_area(swap_area(handle, (struct area){0}, &found));
    return found ? PLM_CUFFT_SUCCESS : PLM_CUFFT_INVALID_PLAN;
}

/* Stores *value, or fetches into it; a NULL value resets. */
static int property(int handle, int id, int64_t *value, bool fetch)
{
    struct plan *plan;
    if (id < 1 || id >= PROPERTIES)
        return PLM_CUFFT_INVALID_VALUE;
    plm_lock_take(&plans_lock);
    plan = plan_of(handle);
    if (plan && fetch)
        *value = plan->property[id];
    else if (plan)
        plan->property[id] = value ? *value : 0;
    plm_lock_give(&plans_lock);
    return plan ? PLM_CUFFT_SUCCESS : PLM_CUFFT_INVALID_PLAN;
}

PLM_API int cufftSetPlanPropertyInt64(int handle, int id, int64_t value)
{
    return property(handle, id, &value, false);
}

PLM_API int cufftGetPlanPropertyInt64(int handle, int id, int64_t *value)
{
    return value ? property(handle, id, value, true) : PLM_CUFFT_INVALID_VALUE;
}

PLM_API int cufftResetPlanProperty(int handle, int id)
{
    return property(handle, id, NULL, false);
}
