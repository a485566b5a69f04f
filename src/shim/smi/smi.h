/*
 * nvidia-smi for the virtual cards: a program of the job's, on its PATH under `plimsoll run`. It knows what the
 * management library says and nothing else. Its output is what NVIDIA documents and scripts parse; what the virtual
 * card does not know is [N/A]. One thread; what a function prints goes to stdout.
 */
#ifndef PLM_SMI_H
#define PLM_SMI_H

#include <stdbool.h>
#include <stddef.h>

#include "shim/smi/nvml_calls.h"

/* The statuses of nvidia-smi's manual. */
enum plm_smi_exit {
    PLM_SMI_OK = 0,
    PLM_SMI_INVALID = 2,
    PLM_SMI_NOT_FOUND = 6,
    PLM_SMI_NO_DRIVER = 9,
};

enum { PLM_SMI_TEXT = 128, PLM_SMI_PROCESSES = 513 };

/* The cards that -i chose, or all. */
struct plm_smi_cards {
    nvml_device card[PLM_DEVICES_MAX];
    unsigned count;
};

/* csv: the columns of a --query- option, and how they are shown. */
struct plm_smi_query {
    const char *fields; /* names with commas between */
    bool apps;          /* of processes, not of cards */
    bool header, units;
};

/* query.c: the table; a name that is none of its fields is told, and is PLM_SMI_INVALID. */
int plm_smi_query(const struct plm_smi_query *query, const struct plm_smi_cards *cards);
void plm_smi_query_help(bool apps);

/* screen.c: without options, -L, and `topo -m`. */
void plm_smi_screen(const struct plm_smi_cards *cards);
void plm_smi_list(const struct plm_smi_cards *cards);
void plm_smi_topology(const struct plm_smi_cards *cards);

/* The processes on a card; how many there are. */
unsigned plm_smi_processes(nvml_device card, struct nvml_process out[PLM_SMI_PROCESSES]);
struct nvml_memory plm_smi_memory(nvml_device card);

#endif
