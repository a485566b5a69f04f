/*
 * The device memory of a communicator, modelled: for each channel and connection the buffers of NCCL's three protocols.
 * How many channels there are depends on the machine, which is not known here, so the middle is a guess by the kind
 * of card and the range is wide. A ring has two connections a channel; trees, which NCCL adds for some sizes, three
 * more. What talks to single peers (send, receive, all-to-all) has connections of its own with each.
 */
#include "shim/nccl/buffers.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "device/footprint.h"

enum { CHANNELS_MAX = 64, CHANNELS_LOW = 2, CHANNELS_HIGH = 32 };
enum { RING = 2, TREE = 3 };
enum { PCIE_CHANNELS = 2, VOLTA_CHANNELS = 12, NVLINK_CHANNELS = 24 };
enum { PEER_LOW = 1, PEER_PCIE = 2, PEER_NVLINK = 8, PEER_HIGH = 32 };
enum { NODE = PLM_NCCL_PEERS }; /* ranks beyond a node are reached through a buffer that they share */
#define KIB        1024ull
#define BUFFER_MAX (1ull << 30)

/* NCCL reads a number from the environment, or takes its own. */
static uint64_t setting(const char *name, uint64_t otherwise, uint64_t most)
{
    const char *text = getenv(name);
    char *end;
    long long value = text ? strtoll(text, &end, 0) : 0;
    return value > 0 && end != text ? ((uint64_t)value < most ? (uint64_t)value : most) : otherwise;
}

/* "LL,Simple" names those that may be used, "^LL128" those that may not. */
static bool allowed(const char *protocol)
{
    const char *list = getenv("NCCL_PROTO");
    bool negated = list && *list == '^';
    size_t length = strlen(protocol);
    if (!list || !*list)
        return true;
    for (const char *at = list + negated; *at;) {
        size_t word = strcspn(at, ",");
        if (word == length && !strncasecmp(at, protocol, word))
            return !negated;
        at += word + (at[word] == ',');
    }
    return negated;
}

static const struct protocol {
    const char *name, *variable;
    uint64_t bytes;
} protocols[] = {
    {"Simple", "NCCL_BUFFSIZE", 4096 * KIB},
    {"LL", "NCCL_LL_BUFFSIZE", 512 * KIB},
    {"LL128", "NCCL_LL128_BUFFSIZE", 4800 * KIB},
};

/* NCCL_PROTO decides which are used. That those which are not take no memory is the low end. */
static uint64_t connection_bytes(bool used_only)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
        if (!used_only || allowed(protocols[i].name))
            sum += setting(protocols[i].variable, protocols[i].bytes, BUFFER_MAX);
    return sum;
}

/* Data-centre cards of these bandwidths are sold on boards with NVLink, unless their name says PCIe. */
static bool has_nvlink(const struct plm_card *card)
{
    return card->major >= 7 && !card->mig && card->bandwidth_gbs >= 800 && !strcmp(card->class, "datacenter") &&
           !strcasestr(card->name, "pcie") && !strcasestr(card->name, "L40");
}

static uint64_t between(uint64_t channels)
{
    uint64_t least = setting("NCCL_MIN_NCHANNELS", setting("NCCL_MIN_CTAS", 1, CHANNELS_MAX), CHANNELS_MAX);
    uint64_t most = setting("NCCL_MAX_NCHANNELS", setting("NCCL_MAX_CTAS", CHANNELS_MAX, CHANNELS_MAX), CHANNELS_MAX);
    channels = channels > least ? channels : least;
    return channels < most ? channels : most;
}

struct plm_nccl_need plm_nccl_ring_need(const struct plm_card *card)
{
    uint64_t usual = !has_nvlink(card) ? PCIE_CHANNELS : card->major == 7 ? VOLTA_CHANNELS : NVLINK_CHANNELS;
    return (struct plm_nccl_need){
        .bytes = between(usual) * RING * connection_bytes(false),
        .low = between(CHANNELS_LOW) * connection_bytes(true),
        .high = between(CHANNELS_HIGH) * (RING + TREE) * connection_bytes(false),
    };
}

struct plm_nccl_need plm_nccl_peer_need(const struct plm_card *card)
{
    uint64_t usual = has_nvlink(card) ? PEER_NVLINK : PEER_PCIE;
    return (struct plm_nccl_need){
        .bytes = between(usual) * connection_bytes(false),
        .low = PEER_LOW * connection_bytes(true),
        .high = between(PEER_HIGH) * RING * connection_bytes(false),
    };
}

/* ---- what a communicator holds ---- */

static int take(struct plm_nccl_comm *comm, const struct plm_nccl_need *need, uint64_t *address)
{
    if (plm_mem_library(comm->device, "nccl", need->bytes, address))
        return PLM_NCCL_CUDA_ERROR;
    plm_footprint_range(comm->device, "nccl", (int64_t)need->low, (int64_t)need->high);
    comm->buffer_bytes += need->bytes;
    return PLM_NCCL_OK;
}

int plm_nccl_connect(struct plm_nccl_comm *comm)
{
    struct plm_nccl_need need;
    if (comm->size < 2 || comm->buffers)
        return PLM_NCCL_OK;
    need = plm_nccl_ring_need(plm_device_card(comm->device));
    return take(comm, &need, &comm->buffers);
}

/* Since 2.22 a communicator is connected by its first collective, unless NCCL_RUNTIME_CONNECT=0. */
bool plm_nccl_connects_at_once(void)
{
    const char *late = getenv("NCCL_RUNTIME_CONNECT");
    return plm_software()->nccl < 22200 || (late && !strcmp(late, "0"));
}

int plm_nccl_connect_peer(struct plm_nccl_comm *comm, int peer)
{
    struct plm_nccl_need need;
    int place = peer % NODE;
    if (peer < 0 || peer == comm->rank || comm->size < 2 || comm->peer[place])
        return PLM_NCCL_OK;
    need = plm_nccl_peer_need(plm_device_card(comm->device));
    return take(comm, &need, &comm->peer[place]);
}

int plm_nccl_connect_peers(struct plm_nccl_comm *comm)
{
    int status = PLM_NCCL_OK;
    for (int peer = 0; peer < comm->size && peer < NODE && !status; peer++)
        status = plm_nccl_connect_peer(comm, peer);
    return status;
}

static void give(struct plm_nccl_comm *comm, const struct plm_nccl_need *need, uint64_t *address)
{
    if (!*address)
        return;
    plm_mem_free(*address);
    plm_footprint_range(comm->device, "nccl", -(int64_t)need->low, -(int64_t)need->high);
    *address = 0;
}

void plm_nccl_disconnect(struct plm_nccl_comm *comm)
{
    const struct plm_card *card = plm_device_card(comm->device);
    const struct plm_nccl_need ring = plm_nccl_ring_need(card), peer = plm_nccl_peer_need(card);
    give(comm, &ring, &comm->buffers);
    for (int i = 0; i < NODE; i++)
        give(comm, &peer, &comm->peer[i]);
    comm->buffer_bytes = 0;
}
