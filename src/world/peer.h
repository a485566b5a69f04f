/*
 * Which process is at the other end of a connection within this machine, by /proc. Any thread. A process that cannot be
 * found, as one of another user, is none.
 */
#ifndef PLM_WORLD_PEER_H
#define PLM_WORLD_PEER_H

#include <stdbool.h>

/* Its number, or 0. */
int plm_peer_process(int connection);
/* Whether it was started with this in its environment. */
bool plm_peer_has(int process, const char *name, const char *value);

#endif
