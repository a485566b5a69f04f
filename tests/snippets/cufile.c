#include "snippet.h"

#include <sys/types.h>

struct result {
    int error, driver_error;
};

enum { NOT_SUPPORTED = 5007 };

SNIPPET(cuFileUseCount)
{
    CHECK(CALL(long, cuFileUseCount, (void), ()) == 0);
}

SNIPPET(cuFileGetVersion)
{
    int version = 0;
    struct result r = CALL(struct result, cuFileGetVersion, (int *), (&version));
    CHECK(r.error == 0 && r.driver_error == 0 && version >= 1000);
}

SNIPPET(cuFileHandleRegister)
{
    void *handle = NULL, *description[8] = {0};
    struct result r = CALL(struct result, cuFileHandleRegister, (void **, void *), (&handle, description));
    CHECK(r.error == NOT_SUPPORTED && !handle);
}

SNIPPET(cuFileRead)
{
    char buffer[8];
    CHECK(CALL(ssize_t, cuFileRead, (void *, void *, size_t, off_t, off_t), (NULL, buffer, 8, 0, 0)) == -NOT_SUPPORTED);
}

SNIPPET(cuFileWrite)
{
    char buffer[8] = {0};
    CHECK(CALL(ssize_t, cuFileWrite, (void *, void *, size_t, off_t, off_t), (NULL, buffer, 8, 0, 0)) ==
          -NOT_SUPPORTED);
}

SNIPPET(cufileop_status_error)
{
    CHECK(strlen(CALL(const char *, cufileop_status_error, (int), (NOT_SUPPORTED))) > 0);
}

/* Whatever the arguments: the answer comes back in one register, both halves of it. */
#define REFUSED(symbol)                                            \
    SNIPPET(symbol)                                                \
    {                                                              \
        struct result r = CALL(struct result, symbol, (void), ()); \
        CHECK(r.error == NOT_SUPPORTED && r.driver_error == 0);    \
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
