/*
 * A store (store.h) on a port of 127.0.0.1, served by a thread of this process from plm_store_server_start() until
 * plm_store_server_stop(). It speaks only to processes of this job: those that were started with its token in their
 * environment, which nobody but the same user can read. Others are hung up on.
 *
 * One owner; it starts and stops from one thread, and reads what was made up after the stop. A port that is taken is PLM_EIO
 * with a sentence. The thread takes no signals, and prints nothing.
 */
#ifndef PLM_WORLD_STORE_SERVER_H
#define PLM_WORLD_STORE_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct plm_error;
struct plm_store_server;
struct plm_store;

struct plm_store_server_request {
    unsigned world, live;
    int port;      /* 0: any */
    bool everyone; /* who connects is not looked at: for tests */
};
int plm_store_server_start(const struct plm_store_server_request *request, struct plm_store_server **out,
                           struct plm_error *error);

/* Makes the token, once, and puts it into this process's own environment: what is started from now on belongs to the job.
   Before the first server, which does so too, while there is one thread. */
#define PLM_JOB_TOKEN "PLIMSOLL_JOB"
const char *plm_store_token(void);

int plm_store_server_port(const struct plm_store_server *server);

/* The thread ends, and what is connected is closed. */
void plm_store_server_stop(struct plm_store_server *server);
/* After the stop: what was stored. */
const struct plm_store *plm_store_server_store(const struct plm_store_server *server);
void plm_store_server_free(struct plm_store_server *server); /* stops it if need be; NULL: nothing */

#endif
