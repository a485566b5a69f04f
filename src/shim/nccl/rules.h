/*
 * What decides how much memory a communicator takes, before anything is known of its ranks: the release of NCCL, the
 * card, the topology, and what the environment and the communicator's own settings change. docs/nccl.md says where
 * each figure comes from. Plain values; any thread.
 */
#ifndef PLM_NCCL_RULES_H
#define PLM_NCCL_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_card;
struct plm_topology;

/* The head of the documented ncclConfig_t, as far as memory depends on it. A caller's own is as long as `size` says;
   what it leaves open is INT_MIN or NULL. */
struct plm_nccl_config {
    size_t size;
    unsigned magic, version;
    int blocking, cluster, least, most; /* least and most: channels */
    const char *network;
    int share; /* with the parent of a split */
    int traffic;
    const char *name;
};

struct plm_nccl_rules {
    int version;    /* of NCCL: 22105 */
    int capability; /* of the card: 80 */
    const struct plm_topology *topology;
    uint64_t ll, ll128, simple;        /* bytes of the buffers of each protocol */
    uint64_t nvlink_chunk, pcie_chunk, network_chunk, nvls_chunk;
    int least, most;                   /* channels */
    int peer_least, peer_most;         /* channels of what is sent and received */
    int network_peer;                  /* of these, with a rank of another node */
    int nvls;                          /* channels of NVLink SHARP; 0: as the topology says, -1: it is not used */
    bool cumem;                        /* every allocation is a granule of 2 MiB at least */
    bool at_once;                      /* all connections are made with the communicator */
    bool direct;                       /* GPUs of a node reach each other's memory; else the host's is used */
    bool read;                         /* the receiver reads, instead of the sender writing */
    bool rdma;                         /* the network reaches their memory */
};

/* `version` and `topology` are those that the job has; they must outlive what is made. `config` may be NULL. */
struct plm_nccl_rules plm_nccl_rules(const struct plm_card *card, int version, const struct plm_topology *topology,
                                     const struct plm_nccl_config *config);

/* What a caller's settings say, cut to what its release knows; everything is open for NULL. */
struct plm_nccl_config plm_nccl_config(const struct plm_nccl_config *given);

/* Does a list such as "Ring,Tree", "^NVLS" or "Ring;allreduce:Tree" (NCCL_ALGO, NCCL_PROTO) let `function` use `word`?
   A list that is NULL or empty lets everything be used. */
bool plm_nccl_allows(const char *list, const char *function, const char *word);

#endif
