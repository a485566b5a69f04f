/* cuFFT: plans and the size of their work area. */
#include "snippet.h"

enum { INVALID_PLAN = 1, INVALID_TYPE = 3, INVALID_VALUE = 4, INVALID_SIZE = 8 };
enum { C2C = 0x29, R2C = 0x2a, Z2Z = 0x69, C_16F = 6, C_32F = 4, R_32F = 0 };
enum { SMALL = 1024, LARGE = 1 << 20, PRIME = 1009 };

static int create(void)
{
    int plan = 0;
    CHECK(CALL(int, cufftCreate, (int *), (&plan)) == 0);
    return plan;
}

static void destroy(int plan)
{
    CHECK(CALL(int, cufftDestroy, (int), (plan)) == 0);
}

SNIPPET(cufftCreate)
{
    int plans[100];
    for (int i = 0; i < 100; i++)
        plans[i] = create();
    for (int i = 1; i < 100; i++)
        CHECK(plans[i] > 0 && plans[i] != plans[i - 1]);
    for (int i = 0; i < 100; i++)
        destroy(plans[i]);
}

SNIPPET(cufftDestroy)
{
    int plan = create();
    destroy(plan);
    CHECK(CALL(int, cufftDestroy, (int), (plan)) == INVALID_PLAN);
}

SNIPPET(cufftPlan1d)
{
    int plan = 0;
    size_t work = 1;
    CHECK(CALL(int, cufftPlan1d, (int *, int, int, int), (&plan, LARGE, C2C, 2)) == 0);
    CHECK(CALL(int, cufftGetSize, (int, size_t *), (plan, &work)) == 0);
    CHECK(work == 2ull * LARGE * 8);
    destroy(plan);
    CHECK(CALL(int, cufftPlan1d, (int *, int, int, int), (&plan, LARGE, 1, 2)) == INVALID_TYPE);
    CHECK(CALL(int, cufftPlan1d, (int *, int, int, int), (&plan, 0, C2C, 2)) == INVALID_SIZE);
}

SNIPPET(cufftPlan2d)
{
    int plan = 0;
    CHECK(CALL(int, cufftPlan2d, (int *, int, int, int), (&plan, SMALL, SMALL, Z2Z)) == 0);
    destroy(plan);
}

SNIPPET(cufftPlan3d)
{
    int plan = 0;
    CHECK(CALL(int, cufftPlan3d, (int *, int, int, int, int), (&plan, 64, 64, 64, R2C)) == 0);
    destroy(plan);
}

#define MANY (int, int *, int *, int, int, int *, int, int, int, int, size_t *)

SNIPPET(cufftPlanMany)
{
    int plan = 0, n[2] = {SMALL, SMALL};
    CHECK(CALL(int, cufftPlanMany, (int *, int, int *, int *, int, int, int *, int, int, int, int),
               (&plan, 2, n, NULL, 1, 0, NULL, 1, 0, C2C, 16)) == 0);
    destroy(plan);
    CHECK(CALL(int, cufftPlanMany, (int *, int, int *, int *, int, int, int *, int, int, int, int),
               (&plan, 4, n, NULL, 1, 0, NULL, 1, 0, C2C, 16)) == INVALID_VALUE);
}

SNIPPET(cufftMakePlan1d)
{
    int plan = create();
    size_t work = 1;
    CHECK(CALL(int, cufftMakePlan1d, (int, int, int, int, size_t *), (plan, SMALL, C2C, 1, &work)) == 0);
    CHECK(work == 0);
    destroy(plan);
    CHECK(CALL(int, cufftMakePlan1d, (int, int, int, int, size_t *), (plan, SMALL, C2C, 1, &work)) == INVALID_PLAN);
}

SNIPPET(cufftMakePlan2d)
{
    int plan = create();
    size_t work = 1;
    CHECK(CALL(int, cufftMakePlan2d, (int, int, int, int, size_t *), (plan, 8, LARGE, C2C, &work)) == 0);
    CHECK(work == 8ull * LARGE * 8);
    destroy(plan);
}

SNIPPET(cufftMakePlan3d)
{
    int plan = create();
    size_t work = 1;
    CHECK(CALL(int, cufftMakePlan3d, (int, int, int, int, int, size_t *), (plan, 11, 8, 8, Z2Z, &work)) == 0);
    CHECK(work == 11 * 8 * 8 * 16);
    destroy(plan);
}

SNIPPET(cufftMakePlanMany)
{
    int plan = create(), n[1] = {LARGE};
    size_t work = 1;
    CHECK(CALL(int, cufftMakePlanMany, (int, int, int *, int *, int, int, int *, int, int, int, int, size_t *),
               (plan, 1, n, NULL, 1, 0, NULL, 1, 0, R2C, 3, &work)) == 0);
    CHECK(work == 3ull * (LARGE / 2 + 1) * 8);
    destroy(plan);
}

#define MANY64 (int, int, int64_t *, int64_t *, int64_t, int64_t, int64_t *, int64_t, int64_t, int, int64_t, size_t *)

SNIPPET(cufftMakePlanMany64)
{
    int plan = create();
    int64_t n[1] = {LARGE}, huge[3] = {INT64_MAX, INT64_MAX, 2};
    size_t work = 1;
    CHECK(CALL(int, cufftMakePlanMany64, MANY64, (plan, 1, n, NULL, 1, 0, NULL, 1, 0, C2C, 3, &work)) == 0);
    CHECK(work == 3ull * LARGE * 8);
    CHECK(CALL(int, cufftMakePlanMany64, MANY64, (plan, 3, huge, NULL, 1, 0, NULL, 1, 0, C2C, 3, &work)) ==
          INVALID_SIZE);
    destroy(plan);
}

#define XT_MANY \
    (int, int, int64_t *, int64_t *, int64_t, int64_t, int, int64_t *, int64_t, int64_t, int, int64_t, size_t *, int)

SNIPPET(cufftXtMakePlanMany)
{
    int plan = create();
    int64_t n[1] = {LARGE};
    size_t work = 1;
    CHECK(CALL(int, cufftSetAutoAllocation, (int, int), (plan, 0)) == 0);
    CHECK(CALL(int, cufftXtMakePlanMany, XT_MANY,
               (plan, 1, n, NULL, 1, 1, R_32F, NULL, 1, 1, C_32F, 5, &work, C_32F)) == 0);
    CHECK(work == 5ull * (LARGE / 2 + 1) * 8);
    CHECK(CALL(int, cufftXtMakePlanMany, XT_MANY,
               (plan, 1, n, NULL, 1, 1, C_16F, NULL, 1, 1, C_16F, 1, &work, C_16F)) == 0);
    CHECK(work == 1ull * LARGE * 4);
    CHECK(CALL(int, cufftXtMakePlanMany, XT_MANY,
               (plan, 1, n, NULL, 1, 1, R_32F, NULL, 1, 1, R_32F, 1, &work, C_32F)) == INVALID_TYPE);
    destroy(plan);
}

SNIPPET(cufftEstimate1d)
{
    size_t work = 1;
    CHECK(CALL(int, cufftEstimate1d, (int, int, int, size_t *), (PRIME, C2C, 2, &work)) == 0);
    CHECK(work == 2 * 2048 * 8);
}

SNIPPET(cufftEstimate2d)
{
    size_t work = 1;
    CHECK(CALL(int, cufftEstimate2d, (int, int, int, size_t *), (SMALL, SMALL, C2C, &work)) == 0);
    CHECK(work == 0);
}

SNIPPET(cufftEstimate3d)
{
    size_t work = 1;
    CHECK(CALL(int, cufftEstimate3d, (int, int, int, int, size_t *), (64, 64, 64, C2C, &work)) == 0);
    CHECK(work == 0);
}

SNIPPET(cufftEstimateMany)
{
    int n[1] = {LARGE};
    size_t work = 1;
    CHECK(CALL(int, cufftEstimateMany, MANY, (1, n, NULL, 1, 0, NULL, 1, 0, C2C, 2, &work)) == 0);
    CHECK(work == 2ull * LARGE * 8);
}

SNIPPET(cufftGetSize1d)
{
    size_t work = 1;
    CHECK(CALL(int, cufftGetSize1d, (int, int, int, int, size_t *), (1, LARGE, C2C, 2, &work)) == 0);
    CHECK(work == 2ull * LARGE * 8);
}

SNIPPET(cufftGetSize2d)
{
    size_t work = 1;
    CHECK(CALL(int, cufftGetSize2d, (int, int, int, int, size_t *), (1, SMALL, LARGE, C2C, &work)) == 0);
    CHECK(work == 1ull * SMALL * LARGE * 8);
}

SNIPPET(cufftGetSize3d)
{
    size_t work = 1;
    CHECK(CALL(int, cufftGetSize3d, (int, int, int, int, int, size_t *), (1, 8, 8, 8, C2C, &work)) == 0);
    CHECK(work == 0);
}

SNIPPET(cufftGetSizeMany)
{
    int n[1] = {LARGE};
    size_t work = 1;
    CHECK(CALL(int, cufftGetSizeMany, (int, int, int *, int *, int, int, int *, int, int, int, int, size_t *),
               (1, 1, n, NULL, 1, 0, NULL, 1, 0, C2C, 2, &work)) == 0);
    CHECK(work == 2ull * LARGE * 8);
}

SNIPPET(cufftGetSizeMany64)
{
    int64_t n[1] = {LARGE};
    size_t work = 1;
    CHECK(CALL(int, cufftGetSizeMany64, MANY64, (1, 1, n, NULL, 1, 0, NULL, 1, 0, C2C, 2, &work)) == 0);
    CHECK(work == 2ull * LARGE * 8);
}

SNIPPET(cufftXtGetSizeMany)
{
    int64_t n[1] = {LARGE};
    size_t work = 1;
    CHECK(CALL(int, cufftXtGetSizeMany, XT_MANY, (1, 1, n, NULL, 1, 1, C_32F, NULL, 1, 1, C_32F, 2, &work, C_32F)) ==
          0);
    CHECK(work == 2ull * LARGE * 8);
}

SNIPPET(cufftGetSize)
{
    int plan = create();
    size_t work = 1, made = 2;
    CHECK(CALL(int, cufftGetSize, (int, size_t *), (plan, &work)) == 0);
    CHECK(work == 0);
    CHECK(CALL(int, cufftMakePlan1d, (int, int, int, int, size_t *), (plan, LARGE, C2C, 1, &made)) == 0);
    CHECK(CALL(int, cufftGetSize, (int, size_t *), (plan, &work)) == 0);
    CHECK(work == made);
    destroy(plan);
    CHECK(CALL(int, cufftGetSize, (int, size_t *), (plan, &work)) == INVALID_PLAN);
}

SNIPPET(cufftSetAutoAllocation)
{
    int plan = create();
    CHECK(CALL(int, cufftSetAutoAllocation, (int, int), (plan, 0)) == 0);
    destroy(plan);
    CHECK(CALL(int, cufftSetAutoAllocation, (int, int), (plan, 0)) == INVALID_PLAN);
}

SNIPPET(cufftSetWorkArea)
{
    int plan = create();
    CHECK(CALL(int, cufftSetWorkArea, (int, void *), (plan, (void *)4096)) == 0);
    destroy(plan);
    CHECK(CALL(int, cufftSetWorkArea, (int, void *), (plan, NULL)) == INVALID_PLAN);
}

SNIPPET(cufftGetVersion)
{
    int version = 0;
    CHECK(CALL(int, cufftGetVersion, (int *), (&version)) == 0);
    CHECK(version / 1000 == snippet_cuda() - 1);
}

SNIPPET(cufftGetProperty)
{
    int major = 0;
    CHECK(CALL(int, cufftGetProperty, (int, int *), (0, &major)) == 0);
    CHECK(major == snippet_cuda() - 1);
}

SNIPPET(cufftSetPlanPropertyInt64)
{
    int plan = create();
    CHECK(CALL(int, cufftSetPlanPropertyInt64, (int, int, int64_t), (plan, 1, 1)) == 0);
    CHECK(CALL(int, cufftSetPlanPropertyInt64, (int, int, int64_t), (plan, 9, 1)) == INVALID_VALUE);
    destroy(plan);
}

SNIPPET(cufftGetPlanPropertyInt64)
{
    int plan = create();
    int64_t value = -1;
    CHECK(CALL(int, cufftSetPlanPropertyInt64, (int, int, int64_t), (plan, 2, 12)) == 0);
    CHECK(CALL(int, cufftGetPlanPropertyInt64, (int, int, int64_t *), (plan, 2, &value)) == 0);
    CHECK(value == 12);
    destroy(plan);
}

SNIPPET(cufftResetPlanProperty)
{
    int plan = create();
    int64_t value = -1;
    CHECK(CALL(int, cufftSetPlanPropertyInt64, (int, int, int64_t), (plan, 2, 12)) == 0);
    CHECK(CALL(int, cufftResetPlanProperty, (int, int), (plan, 2)) == 0);
    CHECK(CALL(int, cufftGetPlanPropertyInt64, (int, int, int64_t *), (plan, 2, &value)) == 0);
    CHECK(value == 0);
    destroy(plan);
}
