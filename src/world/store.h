/*
 * The key-value store that PyTorch's processes find each other by (TCPStore), as a server for some live ranks of a larger
 * world. No sockets here: a connection is a struct plm_store_client, which is fed with what came in and has answers to be
 * sent; server.h brings both together.
 *
 * What live ranks store is kept and answered as PyTorch's own server does. What only an absent rank could store is made up
 * when plm_store_make_up() is called: who calls it decides when nobody else will. A made-up value is what a live rank
 * stored under a key that differs in its numbers only, since a peer would do as this one does; else 128 bytes, as long as
 * an identifier of NCCL. A counter is raised to the next multiple of the world's size. A counter that is read again and
 * again without a change is waited for in a loop, and raised as well.
 *
 * Everything belongs to the store; one thread at a time. Input is foreign: plm_store_feed() refuses what is too long or
 * unknown with PLM_EFORMAT, and the connection is to be closed then. What is stored, waited for, sent and received takes
 * PLM_STORE_HELD_MOST together, and an answer 64 MiB: a client that asks for more is refused before more is built, also while
 * another is served (plm_store_refused()).
 */
#ifndef PLM_WORLD_STORE_H
#define PLM_WORLD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plm_store;
struct plm_store_client;

/* `live` ranks of a world of `world` will connect. */
struct plm_store *plm_store_new(unsigned world, unsigned live);
void plm_store_free(struct plm_store *store);

/* A connection of a process. It stays the store's until it is dropped. */
struct plm_store_client *plm_store_join(struct plm_store *store, int process);
void plm_store_drop(struct plm_store *store, struct plm_store_client *client);

/* 0, or PLM_EFORMAT. Other clients may have answers afterwards, too. */
int plm_store_feed(struct plm_store *store, struct plm_store_client *client, const void *bytes, size_t size);
/* What is to be sent to it; and that so much of it was. */
const void *plm_store_answer(const struct plm_store_client *client, size_t *size);
void plm_store_sent(struct plm_store_client *client, size_t size);
bool plm_store_waits(const struct plm_store_client *client);
/* It is to be dropped; and how many were, for what they would have held. */
bool plm_store_refused(const struct plm_store_client *client);
unsigned plm_store_refusals(const struct plm_store *store);

/* Whether each live rank is connected and waits, so that only an absent one could go on. */
bool plm_store_stuck(const struct plm_store *store);
/* Ends all waits. How many there were. */
unsigned plm_store_make_up(struct plm_store *store);

/* What was made up, by key with # in the place of numbers; until the store is freed. */
struct plm_store_made {
    const char *pattern; /* printable */
    uint64_t keys;
    bool
        read; /* as data of the program's: not an identifier of NCCL's or a barrier, and not what a live rank stored itself */
};
size_t plm_store_made(const struct plm_store *store, const struct plm_store_made **made);

#endif
