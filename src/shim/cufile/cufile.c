/* GPUDirect Storage: not offered. A program that asks is told so and reads its files the ordinary way. */
#include "device/shim.h"

#include <sys/types.h>

enum { PLATFORM_NOT_SUPPORTED = 5007 };

/* Results travel as two numbers in one register: this library's error and the driver's. */
struct plm_cufile_error {
    int error;
    int driver_error;
};

static struct plm_cufile_error refuse(const char *name)
{
    const struct plm_symbol symbol = {"cufile", name};
    plm_call_refused(&symbol);
    return (struct plm_cufile_error){PLATFORM_NOT_SUPPORTED, 0};
}

/* Arguments are never looked at, so none are declared. */
#define REFUSED(name)                          \
    PLM_API struct plm_cufile_error name(void) \
    {                                          \
        return refuse(#name);                  \
    }

REFUSED(cuFileDriverOpen)
REFUSED(cuFileDriverClose)
REFUSED(cuFileDriverClose_v2)
REFUSED(cuFileDriverGetProperties)
REFUSED(cuFileDriverSetPollMode)
REFUSED(cuFileDriverSetMaxDirectIOSize)
REFUSED(cuFileDriverSetMaxCacheSize)
REFUSED(cuFileDriverSetMaxPinnedMemSize)
REFUSED(cuFileDriverSetP2PFlags)
REFUSED(cuFileDriverGetP2PFlags)
REFUSED(cuFileSetParameterSizeT)
REFUSED(cuFileSetParameterBool)
REFUSED(cuFileSetParameterString)
REFUSED(cuFileGetParameterSizeT)
REFUSED(cuFileGetParameterBool)
REFUSED(cuFileGetParameterString)
REFUSED(cuFileGetParameterMinMaxValue)
REFUSED(cuFileSetParameterPosixPoolSlabArray)
REFUSED(cuFileGetParameterPosixPoolSlabArray)
REFUSED(cuFileGetBARSizeInKB)
REFUSED(cuFileHandleRegister)
REFUSED(cuFileBufRegister)
REFUSED(cuFileBufDeregister)
REFUSED(cuFileBatchIOSetUp)
REFUSED(cuFileBatchIOSubmit)
REFUSED(cuFileBatchIOGetStatus)
REFUSED(cuFileBatchIOCancel)
REFUSED(cuFileReadAsync)
REFUSED(cuFileWriteAsync)
REFUSED(cuFileStreamRegister)
REFUSED(cuFileStreamDeregister)
REFUSED(cuFileSetStatsLevel)
REFUSED(cuFileGetStatsLevel)
REFUSED(cuFileStatsStart)
REFUSED(cuFileStatsStop)
REFUSED(cuFileStatsReset)
REFUSED(cuFileGetStatsL1)
REFUSED(cuFileGetStatsL2)
REFUSED(cuFileGetStatsL3)

/* Transfers return a byte count; a failure is its negative error number. */
PLM_API ssize_t cuFileRead(void)
{
    return -(ssize_t)refuse("cuFileRead").error;
}

PLM_API ssize_t cuFileWrite(void)
{
    return -(ssize_t)refuse("cuFileWrite").error;
}

PLM_API long cuFileUseCount(void)
{
    return 0;
}

PLM_API struct plm_cufile_error cuFileGetVersion(int *version)
{
    if (version)
        *version = 1140;
    return (struct plm_cufile_error){0, 0};
}

PLM_API const char *cufileop_status_error(int error)
{
    return error ? "GPUDirect Storage is not supported on this platform" : "success";
}
