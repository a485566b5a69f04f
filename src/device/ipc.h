/*
 * Memory and events of one process that another one opens (CUDA IPC), as the shims see them.
 *
 * A handle is 64 bytes that travel by whatever way the program has; all that is needed stands in it. What is opened takes
 * address space and no memory of the card: that is counted in the process that has it. Bytes are not shared, so what is read
 * from opened memory is not known, nor is, from its first handle on, what an exported allocation holds.
 *
 * Any thread. Functions return 0 or an enum plm_dev_status.
 */
#ifndef PLM_DEVICE_IPC_H
#define PLM_DEVICE_IPC_H

#include <stdbool.h>
#include <stdint.h>

struct plm_event;

/* As large as CUDA's handles; passed by value, as theirs are. */
struct plm_ipc_handle {
    uint64_t mark;
    uint32_t process, card; /* who has it; the card as plm_device_number() counts */
    uint64_t base, size, id; /* the allocation; of an event its flags, 0, and what it is */
    uint64_t unused[3];
};
_Static_assert(sizeof(struct plm_ipc_handle) == 64, "CUDA_IPC_HANDLE_SIZE");

/* Whether the address lies in an allocation of this process, whole or small: PLM_DEV_INVALID otherwise. */
bool plm_ipc_exportable(uint64_t address);
int plm_ipc_export(uint64_t address, struct plm_ipc_handle *out);
/* Again for an open handle: the same address, to be closed as often. PLM_DEV_OWN for one of this process, PLM_DEV_INVALID if
   it is none, or its process has ended, or its card is not visible here. */
int plm_ipc_open(const struct plm_ipc_handle *handle, uint64_t *address);
int plm_ipc_close(uint64_t address);

/* Only of events that were made to be shared, and without timing. */
int plm_ipc_export_event(const struct plm_event *event, struct plm_ipc_handle *out);
/* The caller destroys it like its own. Its work is done, as all work is. */
int plm_ipc_open_event(const struct plm_ipc_handle *handle, struct plm_event **out);

#endif
