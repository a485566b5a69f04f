/*
 * A topology: how the GPUs of a node are connected with each other and with other nodes, as far as NCCL's memory
 * depends on it. docs/nccl.md has the format. data/topologies comes with plimsoll; the user's own are in
 * ~/.config/plimsoll/topologies.
 *
 * Plain values, read-only once they are read; any thread. Functions that can fail return 0 or a negative PLM_E code
 * and a sentence, with the line if it is about a file.
 */
#ifndef PLM_TOPOLOGY_H
#define PLM_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

struct plm_card;
struct plm_error;
struct plm_install;

enum plm_topology_link { PLM_LINK_PCIE, PLM_LINK_NVLINK, PLM_LINKS };
enum plm_topology_network { PLM_NETWORK_HOST, PLM_NETWORK_RDMA, PLM_NETWORKS }; /* RDMA: out of and into GPUs' memory */

/* A figure, and what it may be instead. */
struct plm_topology_count {
    int usual, least, most;
};

struct plm_topology {
    char id[64]; /* its file's name without .ini */
    char name[128]; /* for people */
    char cards[256]; /* ids of those that are sold so, with commas; empty: none */
    int gpus; /* of a node */
    enum plm_topology_link link; /* between them */
    enum plm_topology_network network; /* between nodes */
    struct plm_topology_count channels; /* of a communicator inside a node */
    struct plm_topology_count crossing; /* of one across nodes */
    int peer_channels; /* of what two GPUs of a node send each other */
    int nvls_channels, nvls_crossing; /* of NVLink SHARP, in a node and across; 0: there is none */
};

int plm_topology_read(const char *path, struct plm_topology *out, struct plm_error *error);

struct plm_topology_list {
    struct plm_topology_entry {
        struct plm_topology topology;
        char path[4096];
    } *entry;
    int count;
    size_t room;
};

/* Reads all files. The list is freed by the caller, also after an error. */
int plm_topology_list_load(struct plm_topology_list *list, const struct plm_install *install, struct plm_error *error);
void plm_topology_list_free(struct plm_topology_list *list);

/* By id, or by the path of a file (one with a slash). NULL or "auto": the one that the card is sold on, else "pcie". The
   entry belongs to the list and is valid until the next call. */
int plm_topology_choose(struct plm_topology_list *list, const char *name, const struct plm_card *card,
                        const struct plm_topology_entry **out, struct plm_error *error);

/* The topology of this job, for the shims: the file that PLIMSOLL_TOPOLOGY names, else cards on PCI Express. Read once,
   at the first call. */
const struct plm_topology *plm_topology_in_use(void);

#endif
