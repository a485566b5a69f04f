#include "shim/nccl/rules.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "stack/topology.h"

#define KIB       1024ull
#define SIZE_MOST (1ull << 30)

enum { CHANNELS_MOST = 64, STEPS = 8 };

/* Releases at which something changed. */
enum {
    HAS_CUMEM = 21900,          /* by default, on cards that the network reaches */
    HAS_RUNTIME_CONNECT = 22200,
    HAS_CUMEM_EVERYWHERE = 22400,
    HAS_64_CHANNELS = 22500,
};

/* NCCL takes a number from the environment, in any base, or its own. */
static bool number_set(const char *name, long long *value)
{
    const char *text = getenv(name);
    char *end;
    if (!text)
        return false;
    *value = strtoll(text, &end, 0);
    return end != text;
}

static uint64_t size_of(const char *name, uint64_t otherwise)
{
    long long value;
    if (!number_set(name, &value) || value <= 0)
        return otherwise;
    return (uint64_t)value < SIZE_MOST ? (uint64_t)value : SIZE_MOST;
}

static int count_of(const char *name, int otherwise)
{
    long long value;
    if (!number_set(name, &value) || value <= 0)
        return otherwise;
    return value < CHANNELS_MOST ? (int)value : CHANNELS_MOST;
}

static bool is_on(const char *name, bool otherwise)
{
    long long value;
    return number_set(name, &value) && value >= 0 ? value != 0 : otherwise;
}

/* ---- lists ---- */

static bool word_is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !strncasecmp(text, word, length);
}

/* "LL,Simple" or "^LL128" */
static bool list_allows(const char *list, size_t length, const char *word)
{
    const bool negated = length && *list == '^';
    for (size_t at = negated; at < length;) {
        size_t n = strcspn(list + at, ",;");
        n = n < length - at ? n : length - at;
        if (word_is(list + at, n, word))
            return !negated;
        at += n + 1;
    }
    return negated;
}

bool plm_nccl_allows(const char *list, const char *function, const char *word)
{
    bool allowed = true;
    while (list && *list) {
        const size_t length = strcspn(list, ";");
        const char *colon = memchr(list, ':', length);
        if (!colon)
            allowed = list_allows(list, length, word);
        else if (word_is(list, (size_t)(colon - list), function))
            allowed = list_allows(colon + 1, length - (size_t)(colon + 1 - list), word);
        list += length;
        list += *list == ';';
    }
    return allowed;
}

/* ---- settings of one communicator ---- */

struct plm_nccl_config plm_nccl_config(const struct plm_nccl_config *given)
{
    struct plm_nccl_config c = {.least = INT_MIN, .most = INT_MIN, .share = INT_MIN};
    size_t known = given ? given->size : 0;
    if (known >= offsetof(struct plm_nccl_config, network)) {
        c.least = given->least;
        c.most = given->most;
    }
    if (known >= offsetof(struct plm_nccl_config, traffic))
        c.share = given->share;
    if (known >= sizeof c)
        c.name = given->name;
    return c;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The environment goes before what the program says. */
static void limit_channels(struct plm_nccl_rules *r, const struct plm_nccl_config *c)
{
    const int all = r->version >= HAS_64_CHANNELS ? CHANNELS_MOST : CHANNELS_MOST / 2;
    const int least = count_of("NCCL_MIN_CTAS", c->least > 0 ? c->least : 1);
    const int most = count_of("NCCL_MAX_CTAS", c->most > 0 ? c->most : all);
    r->least = smaller(larger(count_of("NCCL_MIN_NCHANNELS", 1), least), all);
    r->most = smaller(smaller(count_of("NCCL_MAX_NCHANNELS", all), most), all);
    r->peer_least = count_of("NCCL_MIN_P2P_NCHANNELS", 1);
    r->peer_most = smaller(count_of("NCCL_MAX_P2P_NCHANNELS", all), all);
    r->network_peer = count_of("NCCL_NCHANNELS_PER_NET_PEER", 2);
}

/* ---- how memory is taken, and whose ---- */

static bool uses_cumem(const struct plm_card *card, int version)
{
    const bool reached = strcmp(card->class, "geforce") != 0 && !card->shared_memory;
    const bool usual = version >= HAS_CUMEM_EVERYWHERE || (version >= HAS_CUMEM && reached);
    return is_on("NCCL_CUMEM_ENABLE", usual);
}

/* NCCL_P2P_LEVEL and NCCL_NET_GDR_LEVEL: "LOC" and 0 allow no path at all. */
static bool level_is_none(const char *name)
{
    const char *level = getenv(name);
    return level && (!strcasecmp(level, "LOC") || !strcmp(level, "0"));
}

/* The driver offers GeForce cards no way to each other over PCI Express. */
static bool reaches_directly(const struct plm_card *card, const struct plm_topology *t)
{
    if (is_on("NCCL_P2P_DISABLE", false) || level_is_none("NCCL_P2P_LEVEL"))
        return false;
    return t->link == PLM_LINK_NVLINK || strcmp(card->class, "geforce") != 0;
}

static int nvls_channels(const struct plm_card *card, const struct plm_topology *t)
{
    if (!t->nvls_channels || card->major < 9 || !is_on("NCCL_NVLS_ENABLE", true))
        return -1;
    return count_of("NCCL_NVLS_NCHANNELS", 0);
}

struct plm_nccl_rules plm_nccl_rules(const struct plm_card *card, int version, const struct plm_topology *topology,
                                     const struct plm_nccl_config *config)
{
    const struct plm_nccl_config c = plm_nccl_config(config);
    struct plm_nccl_rules r = {
        .version = version,
        .capability = card->major * 10 + card->minor,
        .topology = topology,
        .ll = size_of("NCCL_LL_BUFFSIZE", 512 * KIB),
        .ll128 = size_of("NCCL_LL128_BUFFSIZE", 4800 * KIB),
        .simple = size_of("NCCL_BUFFSIZE", 4096 * KIB),
        .nvlink_chunk = size_of("NCCL_P2P_NVL_CHUNKSIZE", 512 * KIB),
        .pcie_chunk = size_of("NCCL_P2P_PCI_CHUNKSIZE", 128 * KIB),
        .network_chunk = size_of("NCCL_P2P_NET_CHUNKSIZE", 128 * KIB),
        .nvls_chunk = size_of("NCCL_NVLS_CHUNKSIZE", 128 * KIB),
        .nvls = nvls_channels(card, topology),
        .cumem = uses_cumem(card, version),
        .direct = reaches_directly(card, topology),
        .rdma = topology->network == PLM_NETWORK_RDMA && !level_is_none("NCCL_NET_GDR_LEVEL"),
    };
    r.at_once = version < HAS_RUNTIME_CONNECT || !r.cumem || !is_on("NCCL_RUNTIME_CONNECT", true);
    r.read = is_on("NCCL_P2P_READ_ENABLE", topology->link == PLM_LINK_NVLINK && r.capability == 80);
    limit_channels(&r, &c);
    return r;
}
