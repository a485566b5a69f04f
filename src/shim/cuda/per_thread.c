#include "shim/cuda/driver.h"

/*
 * The editions for programs compiled with one default stream per thread: the same functions, with
 * that stream in place of a missing one. Those without a stream argument differ in nothing else.
 *
 * The functions are declared again here with words for arguments, as the generated ones are: they
 * only pass through. Types matter to the callee alone.
 */

typedef plm_word w;

static w own(w stream)
{
    return stream ? stream : (w)PLM_STREAM_PER_THREAD;
}

#define FORWARD(name, suffix, types, parameters, arguments) \
    int name types;                                         \
    PLM_API int name##suffix parameters                     \
    {                                                       \
        return name arguments;                              \
    }

#define NONE1(name) FORWARD(name, _ptds, (w), (w a), (a))
#define NONE3(name) FORWARD(name, _ptds, (w, w, w), (w a, w b, w c), (a, b, c))
#define NONE4(name) FORWARD(name, _ptds, (w, w, w, w), (w a, w b, w c, w d), (a, b, c, d))
#define NONE5(name) FORWARD(name, _ptds, (w, w, w, w, w), (w a, w b, w c, w d, w e), (a, b, c, d, e))

#define FIRST1(name) FORWARD(name, _ptsz, (w), (w s), (own(s)))
#define FIRST2(name) FORWARD(name, _ptsz, (w, w), (w s, w a), (own(s), a))
#define FIRST3(name) FORWARD(name, _ptsz, (w, w, w), (w s, w a, w b), (own(s), a, b))
#define FIRST4(name) FORWARD(name, _ptsz, (w, w, w, w), (w s, w a, w b, w c), (own(s), a, b, c))
#define FIRST6(name) FORWARD(name, _ptsz, (w, w, w, w, w, w), (w s, w a, w b, w c, w d, w e), (own(s), a, b, c, d, e))
#define FIRST7(name) \
    FORWARD(name, _ptsz, (w, w, w, w, w, w, w), (w s, w a, w b, w c, w d, w e, w f), (own(s), a, b, c, d, e, f))

#define LAST2(name) FORWARD(name, _ptsz, (w, w), (w a, w s), (a, own(s)))
#define LAST3(name) FORWARD(name, _ptsz, (w, w, w), (w a, w b, w s), (a, b, own(s)))
#define LAST4(name) FORWARD(name, _ptsz, (w, w, w, w), (w a, w b, w c, w s), (a, b, c, own(s)))
#define LAST5(name) FORWARD(name, _ptsz, (w, w, w, w, w), (w a, w b, w c, w d, w s), (a, b, c, d, own(s)))
#define LAST6(name) FORWARD(name, _ptsz, (w, w, w, w, w, w), (w a, w b, w c, w d, w e, w s), (a, b, c, d, e, own(s)))
#define LAST8(name)                                                                          \
    FORWARD(name, _ptsz, (w, w, w, w, w, w, w, w), (w a, w b, w c, w d, w e, w f, w g, w s), \
            (a, b, c, d, e, f, g, own(s)))
#define LAST9(name)                                                                                  \
    FORWARD(name, _ptsz, (w, w, w, w, w, w, w, w, w), (w a, w b, w c, w d, w e, w f, w g, w h, w s), \
            (a, b, c, d, e, f, g, h, own(s)))

NONE3(cuMemcpy)
NONE5(cuMemcpyPeer)
NONE3(cuMemcpyHtoD_v2)
NONE3(cuMemcpyDtoH_v2)
NONE3(cuMemcpyDtoD_v2)
NONE4(cuMemcpyDtoA_v2)
NONE4(cuMemcpyAtoD_v2)
NONE4(cuMemcpyHtoA_v2)
NONE4(cuMemcpyAtoH_v2)
NONE5(cuMemcpyAtoA_v2)
NONE1(cuMemcpy2D_v2)
NONE1(cuMemcpy2DUnaligned_v2)
NONE1(cuMemcpy3D_v2)
NONE1(cuMemcpy3DPeer)
NONE3(cuMemsetD8_v2)
NONE3(cuMemsetD16_v2)
NONE3(cuMemsetD32_v2)
NONE5(cuMemsetD2D8_v2)
NONE5(cuMemsetD2D16_v2)
NONE5(cuMemsetD2D32_v2)

LAST4(cuMemcpyAsync)
LAST6(cuMemcpyPeerAsync)
LAST4(cuMemcpyHtoDAsync_v2)
LAST4(cuMemcpyDtoHAsync_v2)
LAST4(cuMemcpyDtoDAsync_v2)
LAST5(cuMemcpyHtoAAsync_v2)
LAST5(cuMemcpyAtoHAsync_v2)
LAST2(cuMemcpy2DAsync_v2)
LAST2(cuMemcpy3DAsync_v2)
LAST2(cuMemcpy3DPeerAsync)
LAST9(cuMemcpyBatchAsync)
LAST8(cuMemcpyBatchAsync_v2)
LAST5(cuMemcpyWithAttributesAsync)
LAST4(cuMemsetD8Async)
LAST4(cuMemsetD16Async)
LAST4(cuMemsetD32Async)
LAST6(cuMemsetD2D8Async)
LAST6(cuMemsetD2D16Async)
LAST6(cuMemsetD2D32Async)
LAST3(cuMemAllocAsync)
LAST4(cuMemAllocFromPoolAsync)
LAST2(cuMemFreeAsync)

FIRST1(cuStreamQuery)
FIRST1(cuStreamSynchronize)
FIRST2(cuStreamGetPriority)
FIRST2(cuStreamGetId)
FIRST2(cuStreamGetFlags)
FIRST2(cuStreamGetCtx)
FIRST3(cuStreamGetCtx_v2)
FIRST2(cuStreamGetDevice)
FIRST3(cuStreamWaitEvent)
FIRST4(cuStreamAddCallback)
FIRST3(cuStreamGetAttribute)
FIRST4(cuStreamWriteValue32)
FIRST4(cuStreamWriteValue32_v2)
FIRST4(cuStreamWriteValue64)
FIRST4(cuStreamWriteValue64_v2)
FIRST1(cuStreamBeginCapture)
FIRST2(cuStreamBeginCapture_v2)
FIRST6(cuStreamBeginCaptureToGraph)
FIRST2(cuStreamEndCapture)
FIRST2(cuStreamIsCapturing)
FIRST3(cuStreamGetCaptureInfo)
FIRST6(cuStreamGetCaptureInfo_v2)
FIRST7(cuStreamGetCaptureInfo_v3)
LAST2(cuEventRecord)
FIRST3(cuLaunchHostFunc)
FIRST4(cuLaunchHostFunc_v2)
LAST2(cuGraphLaunch)

int cuEventRecordWithFlags(w event, w stream, w flags);
PLM_API int cuEventRecordWithFlags_ptsz(w event, w stream, w flags)
{
    return cuEventRecordWithFlags(event, own(stream), flags);
}

/* The stream is the ninth argument, the kernel's own follow. */
int cuLaunchKernel(w, w, w, w, w, w, w, w, w, w, w);
PLM_API int cuLaunchKernel_ptsz(w f, w gx, w gy, w gz, w bx, w by, w bz, w shared, w stream, w args, w extra)
{
    return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, own(stream), args, extra);
}

int cuLaunchCooperativeKernel(w, w, w, w, w, w, w, w, w, w);
PLM_API int cuLaunchCooperativeKernel_ptsz(w f, w gx, w gy, w gz, w bx, w by, w bz, w shared, w stream, w args)
{
    return cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, own(stream), args);
}

int cuGraphInstantiateWithParams(w, w, w);
PLM_API int cuGraphInstantiateWithParams_ptsz(w out, w graph, w params)
{
    return cuGraphInstantiateWithParams(out, graph, params);
}
