#include "stack/topology.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/ini.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { NUMBER_MOST = 1024 };

/* ---- a file ---- */

static const struct plm_topology plain = {
    .id = "pcie",
    .name = "cards on PCI Express",
    .gpus = 8,
    .channels = {2, 2, 8},
    .crossing = {2, 2, 8},
    .peer_channels = 2,
};

static const struct {
    const char *key;
    size_t offset, size;
} texts[] = {
    {"name", offsetof(struct plm_topology, name), sizeof(((struct plm_topology *)0)->name)},
    {"cards", offsetof(struct plm_topology, cards), sizeof(((struct plm_topology *)0)->cards)},
};

static const struct {
    const char *key;
    size_t offset;
    bool needed;
} numbers[] = {
    {"gpus", offsetof(struct plm_topology, gpus), true},
    {"channels", offsetof(struct plm_topology, channels.usual), true},
    {"channels_least", offsetof(struct plm_topology, channels.least), true},
    {"channels_most", offsetof(struct plm_topology, channels.most), true},
    {"network_channels", offsetof(struct plm_topology, crossing.usual), true},
    {"network_channels_least", offsetof(struct plm_topology, crossing.least), true},
    {"network_channels_most", offsetof(struct plm_topology, crossing.most), true},
    {"peer_channels", offsetof(struct plm_topology, peer_channels), true},
    {"nvls_channels", offsetof(struct plm_topology, nvls_channels), false},
    {"nvls_channels_network", offsetof(struct plm_topology, nvls_crossing), false},
};

static const char *const links[PLM_LINKS] = {"pcie", "nvlink"};
static const char *const networks[PLM_NETWORKS] = {"host", "rdma"};

struct reading {
    struct plm_topology *topology;
    uint32_t seen; /* bits of `numbers` */
};

static int pair_wrong(const struct plm_ini_pair *pair, struct plm_error *error, const char *what)
{
    return plm_fail(error, PLM_EFORMAT, "%s:%d: %s = %.100s: %s", pair->path, pair->line, pair->key, pair->value, what);
}

/* Its place among the words, or -1. */
static int word_place(const char *value, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(value, words[i]))
            return i;
    return -1;
}

static int read_text(const struct plm_ini_pair *pair, char *out, size_t size, struct plm_error *error)
{
    if (strlen(pair->value) >= size)
        return pair_wrong(pair, error, "that is too long");
    strcpy(out, pair->value);
    return 0;
}

static int read_number(const struct plm_ini_pair *pair, int *out, struct plm_error *error)
{
    char *end;
    long value = strtol(pair->value, &end, 10);
    if (end == pair->value || *end || value < 1 || value > NUMBER_MOST)
        return pair_wrong(pair, error, "use a number from 1 to 1024");
    *out = (int)value;
    return 0;
}

static int read_pair(const struct plm_ini_pair *pair, void *context, struct plm_error *error)
{
    struct reading *r = context;
    struct plm_topology *t = r->topology;
    int place;
    if (!strcmp(pair->section, "source"))
        return 0; /* for people */
    if (strcmp(pair->section, "topology") != 0)
        return plm_fail(error, PLM_EFORMAT, "%s:%d: unknown section [%.60s]; use [topology] or [source]", pair->path,
                        pair->line, pair->section);
    for (size_t i = 0; i < COUNT(texts); i++)
        if (!strcmp(pair->key, texts[i].key))
            return read_text(pair, (char *)t + texts[i].offset, texts[i].size, error);
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (!strcmp(pair->key, numbers[i].key)) {
            r->seen |= 1u << i;
            return read_number(pair, (int *)((char *)t + numbers[i].offset), error);
        }
    if (!strcmp(pair->key, "link")) {
        place = word_place(pair->value, links, PLM_LINKS);
        t->link = place < 0 ? PLM_LINK_PCIE : (enum plm_topology_link)place;
        return place < 0 ? pair_wrong(pair, error, "use 'pcie' or 'nvlink'") : 0;
    }
    if (!strcmp(pair->key, "network")) {
        place = word_place(pair->value, networks, PLM_NETWORKS);
        t->network = place < 0 ? PLM_NETWORK_HOST : (enum plm_topology_network)place;
        return place < 0 ? pair_wrong(pair, error, "use 'host' or 'rdma'") : 0;
    }
    return pair_wrong(pair, error, "no such key");
}

static bool in_order(const struct plm_topology_count *c)
{
    return c->least <= c->usual && c->usual <= c->most;
}

static void set_id(struct plm_topology *t, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t length = strlen(name);
    const bool ini = length > 4 && !strcmp(name + length - 4, ".ini");
    snprintf(t->id, sizeof t->id, "%.*s", (int)(ini ? length - 4 : length), name);
}

int plm_topology_read(const char *path, struct plm_topology *out, struct plm_error *error)
{
    struct reading r = {.topology = out};
    int status;
    *out = (struct plm_topology){0};
    set_id(out, path);
    status = plm_ini_read(path, read_pair, &r, error);
    for (size_t i = 0; i < COUNT(numbers) && status == 0; i++)
        if (numbers[i].needed && !(r.seen & 1u << i))
            status = plm_fail(error, PLM_EFORMAT, "%s: %s is missing", path, numbers[i].key);
    if (status == 0 && (!in_order(&out->channels) || !in_order(&out->crossing)))
        status = plm_fail(error, PLM_EFORMAT, "%s: the number of channels is outside its minimum and maximum", path);
    if (!out->nvls_crossing)
        out->nvls_crossing = out->nvls_channels;
    return status;
}

/* ---- the topology of this job ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct plm_topology in_use;

static void load(void)
{
    const char *path = getenv("PLIMSOLL_TOPOLOGY");
    if (!path || !*path || plm_topology_read(path, &in_use, NULL) < 0)
        in_use = plain;
}

const struct plm_topology *plm_topology_in_use(void)
{
    pthread_once(&once, load);
    return &in_use;
}
