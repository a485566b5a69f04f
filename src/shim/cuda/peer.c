#include <stdatomic.h>

#include "shim/cuda/driver.h"

/* Access from one device to the memory of another: every card reaches every other, as in one server. */

enum { P2P_RANK = 1, P2P_ACCESS = 2, P2P_ATOMICS = 3, P2P_ARRAYS = 4, P2P_PARTIAL_ATOMICS = 5 };

PLM_API int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(device) || !plm_cu_device_valid(peer))
        return PLM_CU_INVALID_DEVICE;
    *can = device != peer;
    return 0;
}

PLM_API int cuDeviceGetP2PAttribute(int *value, int attribute, int from, int to)
{
    if (!value || attribute < P2P_RANK || attribute > P2P_PARTIAL_ATOMICS)
        return PLM_CU_INVALID_VALUE;
    if (!plm_cu_device_valid(from) || !plm_cu_device_valid(to) || from == to)
        return PLM_CU_INVALID_DEVICE;
    *value = attribute == P2P_ACCESS;
    return 0;
}

PLM_API int cuCtxEnablePeerAccess(struct plm_cu_context *peer, unsigned flags)
{
    struct plm_cu_context *context = plm_cu_current();
    if (flags)
        return PLM_CU_INVALID_VALUE;
    if (!context || !plm_cu_context_valid(peer))
        return PLM_CU_INVALID_CONTEXT;
    if (peer->device == context->device)
        return PLM_CU_INVALID_DEVICE;
    if (atomic_fetch_or(&context->peers, 1ull << peer->device) >> peer->device & 1)
        return PLM_CU_PEER_ALREADY_ENABLED;
    return 0;
}

PLM_API int cuCtxDisablePeerAccess(struct plm_cu_context *peer)
{
    struct plm_cu_context *context = plm_cu_current();
    if (!context || !plm_cu_context_valid(peer))
        return PLM_CU_INVALID_CONTEXT;
    if (!(atomic_fetch_and(&context->peers, ~(1ull << peer->device)) >> peer->device & 1))
        return PLM_CU_PEER_NOT_ENABLED;
    return 0;
}
