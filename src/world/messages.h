/*
 * Small messages between the processes of one job, through memory that they share.
 *
 * The board is a memory file that `plimsoll run` makes for the command (PLIMSOLL_MESSAGES). Whoever sends posts a message
 * under a key and goes on; whoever wants one looks for its key, at once or until it comes. Nobody owns a message: the
 * board holds the latest ones, and those that nobody looked for in time are gone. Nothing is ever waited for in order to
 * post. A process takes a place on the board before it posts, and holds a lock of the file while it lives: the kernel
 * tells the others when it has died. No descriptor that the program may close has to do with that.
 *
 * Any thread of any process; there is no lock to be left behind. What others wrote is checked before it is used. Without a
 * board nothing is posted, and all that is looked for is unknown. Nothing here fails otherwise.
 */
#ifndef PLM_WORLD_MESSAGES_H
#define PLM_WORLD_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One message of one rank: what is larger is not carried. PyTorch takes blocks of up to so many bytes from segments that have
   real memory behind them (PLM_BACKED_MAX); of larger ones there is nothing to carry. */
enum { PLM_MESSAGE_MOST = 1 << 20 };

struct plm_message_key {
    uint64_t low, high;
};
/* A key that follows from another one and some bytes, the same in all processes. */
struct plm_message_key plm_message_key(struct plm_message_key from, const void *bytes, size_t size);

/* What the ranks of one job have in common, and those of two that run one after the other have not. */
struct plm_message_key plm_messages_job(void);

/* What the ranks of one world have in common that run one after the other for one record: under keys of this one, a rank that
   runs alone leaves what it sends for those after it. */
struct plm_message_key plm_messages_kept(void);

/* A new board: a descriptor, or -1. The board is there as long as some process has it open. */
int plm_messages_create(void);

/* Is there a board? */
bool plm_messages_here(void);
/* Is this rank of the job run at all? */
bool plm_messages_runs(int rank);
/* This process takes part: which rank of the job it is (-1: not known). Again after a fork. */
void plm_messages_join(int rank);
/* It stands at `place` of the group `group` from now on. */
void plm_messages_attach(struct plm_message_key group, int place);
/* Waits until the member at `place`, which is `rank` of the job (-1: not known), does so as well, if it is run and lives. */
void plm_messages_meet(struct plm_message_key group, int place, int rank);

/* `number`: how many messages of its own kind the sender has posted to the group with this one; 0: it does not count
   them. */
struct plm_message {
    struct plm_message_key key, group;
    int place;
    uint64_t number;
};
/* Of its `size` bytes, the first `known` are known: often all or none; something short in a long buffer is between. */
void plm_messages_post(const struct plm_message *message, const void *bytes, size_t known, size_t size);

enum plm_message_state {
    PLM_MESSAGE_NONE, /* has not come yet */
    PLM_MESSAGE_KNOWN, /* was copied, as far as it is known */
    PLM_MESSAGE_UNKNOWN, /* its sender knew nothing of its value, has another size, is gone or was never there */
    PLM_MESSAGE_LATE, /* was waited for too long */
};
/* How long somebody who lives and says nothing is waited for: not at all, for 60 s (the second time for one), or as long as
   PyTorch waits at a barrier. */
enum plm_patience { PLM_PATIENCE_NONE, PLM_PATIENCE_VALUE, PLM_PATIENCE_BARRIER };
/* `rank`: of the sender in the job, -1 if that is not known. */
enum plm_message_state plm_messages_take(const struct plm_message *message, int rank, enum plm_patience patience,
                                         void *to, size_t *known, size_t size);
/* What a rank that is not there any more left: PLM_MESSAGE_KNOWN or PLM_MESSAGE_UNKNOWN, at once. Not what ranks talk about:
   when they end does not follow from it. */
enum plm_message_state plm_messages_recall(const struct plm_message *message, void *to, size_t *known, size_t size);
/* Has anybody posted anything yet? */
bool plm_messages_any(void);

/* This rank ended a step, and has seen enough or not: whether it ends now. Ranks that do not talk end each by itself. Where a
   message was taken since the first step, one that ended early would leave the others without its messages: these end
   after the same step, the second one after all have seen enough. */
bool plm_messages_enough(uint32_t step, bool enough);

#endif
