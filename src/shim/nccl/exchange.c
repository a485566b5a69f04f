#include "shim/nccl/exchange.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/device.h"
#include "device/groups.h"
#include "device/promised.h"
#include "record/writer.h"
#include "world/messages.h"

/* Who sends, and who receives. A unit is what the call counts; ALL is one for every member. */
enum who { NOBODY, EVERYBODY, ROOT, NOT_ROOT };
enum amount { ONE, ALL };

static const struct rule {
    enum who sends;
    enum amount sent;
    enum who receives;
    enum amount received;
    bool sums;
} rules[PLM_COLLECTIVES] = {
    [PLM_COLLECTIVE_ALL_REDUCE] = {EVERYBODY, ONE, EVERYBODY, ONE, true},
    [PLM_COLLECTIVE_REDUCE] = {EVERYBODY, ONE, ROOT, ONE, true},
    [PLM_COLLECTIVE_REDUCE_SCATTER] = {EVERYBODY, ALL, EVERYBODY, ONE, true},
    [PLM_COLLECTIVE_ALL_GATHER] = {EVERYBODY, ONE, EVERYBODY, ALL, false},
    [PLM_COLLECTIVE_BROADCAST] = {ROOT, ONE, NOT_ROOT, ONE, false},
    [PLM_COLLECTIVE_ALL_TO_ALL] = {EVERYBODY, ALL, EVERYBODY, ALL, false},
    [PLM_COLLECTIVE_GATHER] = {EVERYBODY, ONE, ROOT, ALL, false},
    [PLM_COLLECTIVE_SCATTER] = {ROOT, ALL, EVERYBODY, ONE, false},
    [PLM_COLLECTIVE_SEND] = {EVERYBODY, ONE, NOBODY, ONE, false},
    [PLM_COLLECTIVE_RECEIVE] = {NOBODY, ONE, EVERYBODY, ONE, false},
};

/* Of one rank and call: numbers, and bytes, by NCCL's first two types, which objects are pickled into. */
enum { NUMBERS_MOST = 64 << 10, BYTES_MOST = PLM_MESSAGE_MOST, TYPE_INT8 = 0, TYPE_UINT8 = 1 };

/* What a promise needs when it is kept: the communicator may be gone by then. */
struct expected {
    struct plm_nccl_comm comm;
    struct plm_nccl_part part;
    uint64_t number; /* of the call, among those of its communicator or with its peer */
    bool patient;    /* it is worth waiting for */
};

static bool is_single(enum plm_collective kind)
{
    return kind == PLM_COLLECTIVE_SEND || kind == PLM_COLLECTIVE_RECEIVE;
}

static bool takes_part(enum who who, const struct plm_nccl_comm *comm, int root)
{
    return who == EVERYBODY || (who == ROOT && comm->rank == root) || (who == NOT_ROOT && comm->rank != root);
}

static size_t most_of(const struct plm_nccl_part *part)
{
    return part->type == TYPE_INT8 || part->type == TYPE_UINT8 ? BYTES_MOST : NUMBERS_MOST;
}

static size_t bytes_of(const struct plm_nccl_comm *comm, size_t unit, enum amount amount)
{
    return amount == ALL ? unit * (size_t)comm->size : unit;
}

/* ---- communicators ---- */

static void join(struct plm_nccl_comm *comm)
{
    const char *given = getenv("RANK");
    const int rank = comm->group ? plm_nccl_job_rank(comm, comm->rank) : given ? atoi(given) : -1;
    plm_messages_join(rank);
    atomic_store(&plm_record_awaited()->by, (uint32_t)(rank + 1));
    plm_messages_attach(comm->key, comm->rank);
}

static bool lacks_members(const struct plm_nccl_comm *comm)
{
    for (int place = 0; place < comm->size; place++)
        if (!plm_messages_runs(plm_nccl_job_rank(comm, place)))
            return true;
    return false;
}

/* Where only some ranks of a world are run, ids are made up by who serves the store. The group is the same everywhere; how many
   there have been of the same ranks too. What is kept for ranks that run later has another key than what live ones say. */
static struct plm_message_key key_of_group(const struct plm_group *group, bool alone)
{
    struct plm_message_key key =
        plm_message_key(alone ? plm_messages_kept() : plm_messages_job(), group->ranks, strlen(group->ranks));
    for (const struct plm_group *older = group->next; older; older = older->next)
        if (!strcmp(older->ranks, group->ranks))
            key = plm_message_key(key, "", 0);
    return key;
}

void plm_nccl_exchange_begin(struct plm_nccl_comm *comm, const void *id, size_t size)
{
    comm->alone = lacks_members(comm);
    comm->key = comm->group && getenv("PLIMSOLL_WORLD") ? key_of_group(comm->group, comm->alone)
                                                        : plm_message_key((struct plm_message_key){0}, id, size);
    if (comm->size > 1 && plm_messages_here())
        join(comm);
}

void plm_nccl_exchange_split(struct plm_nccl_comm *parent, struct plm_nccl_comm *child, int color)
{
    const uint64_t which[] = {++parent->splits, (uint64_t)color};
    if (!child)
        return;
    child->alone = lacks_members(child);
    child->key = plm_message_key(parent->key, which, sizeof which);
    if (parent->alone && !child->alone) { /* the parent's key is that of earlier runs as well */
        const struct plm_message_key job = plm_messages_job();
        child->key = plm_message_key(child->key, &job, sizeof job);
    }
    if (child->size > 1 && child->size_known && plm_messages_here())
        join(child);
}

static int job_rank(const struct plm_nccl_comm *comm, int place)
{
    return comm->group ? plm_nccl_job_rank(comm, place) : -1;
}

/* While it waits, plimsoll can say for whom. */
static void wait_begin(int rank)
{
    struct plm_awaited *awaited = plm_record_awaited();
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_store(&awaited->since_ns, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    atomic_store(&awaited->rank, (uint32_t)(rank + 1));
}

static void wait_end(void)
{
    atomic_store(&plm_record_awaited()->rank, 0);
}

void plm_nccl_exchange_meet(const struct plm_nccl_comm *comm)
{
    if (comm->size < 2 || !comm->size_known || plm_nccl_in_group() || !plm_messages_here())
        return;
    for (int place = 0; place < comm->size; place++) {
        wait_begin(job_rank(comm, place));
        plm_messages_meet(comm->key, place, job_rank(comm, place));
    }
    wait_end();
}

void plm_nccl_exchange_end(struct plm_nccl_comm *comm)
{
    free(comm->singles);
    comm->singles = NULL;
}

/* How many sends to a peer, or receives from it, there have been with this one; 0: they cannot be counted. */
static uint64_t count_single(struct plm_nccl_comm *comm, const struct plm_nccl_part *part)
{
    const bool receives = part->kind == PLM_COLLECTIVE_RECEIVE;
    if (part->root < 0 || part->root >= comm->size)
        return 0;
    if (!comm->singles)
        comm->singles = calloc(2 * (size_t)comm->size, sizeof *comm->singles);
    return comm->singles ? ++comm->singles[2 * part->root + receives] : 0;
}

/* ---- messages ---- */

/* What `place` sends; to this rank alone, of a single send. */
static struct plm_message message_of(const struct plm_nccl_comm *comm, const struct plm_nccl_part *part, int place,
                                     int to, uint64_t number)
{
    const bool single = is_single(part->kind);
    const uint64_t which[] = {single, number, (uint64_t)place, single ? (uint64_t)to : 0};
    return (struct plm_message){plm_message_key(comm->key, which, sizeof which), comm->key, place, single ? 0 : number};
}

/* What is known at the end of it, where the beginning is not: a count behind statistics. It is posted first. */
static struct plm_message tail_of(struct plm_message message)
{
    message.key = plm_message_key(message.key, "tail", 4);
    message.number = 0;
    return message;
}

static void post(const struct plm_nccl_comm *comm, const struct plm_nccl_part *part, size_t known, uint64_t number)
{
    const struct plm_message message = message_of(comm, part, comm->rank, part->root, number);
    const struct plm_message tail = tail_of(message);
    const size_t bytes = bytes_of(comm, part->bytes, rules[part->kind].sent);
    if (part->tail)
        plm_messages_post(&tail, (const char *)part->from + bytes - part->tail, part->tail, bytes);
    plm_messages_post(&message, part->from, known, bytes);
}

static enum plm_message_state take(const struct expected *e, int place, enum plm_patience patience, void *to,
                                   size_t *known)
{
    const size_t bytes = bytes_of(&e->comm, e->part.bytes, rules[e->part.kind].sent);
    const struct plm_message message = message_of(&e->comm, &e->part, place, e->comm.rank, e->number);
    const int rank = job_rank(&e->comm, place);
    enum plm_message_state state;
    if (e->comm.alone)
        return plm_messages_recall(&message, to, known, bytes);
    state = plm_messages_take(&message, rank, PLM_PATIENCE_NONE, to, known, bytes);
    if (state == PLM_MESSAGE_NONE && patience != PLM_PATIENCE_NONE) {
        wait_begin(rank);
        state = plm_messages_take(&message, rank, patience, to, known, bytes);
        wait_end();
    }
    if (state == PLM_MESSAGE_LATE)
        plm_record_note("message-late", "");
    return state;
}

/* How many bytes at the end of what `place` sent are known: 0, or they are copied. Its message has come. */
static size_t take_tail(const struct expected *e, int place, void *to)
{
    const struct plm_message tail = tail_of(message_of(&e->comm, &e->part, place, e->comm.rank, e->number));
    size_t known = 0;
    if (e->comm.alone)
        return 0;
    return plm_messages_take(&tail, job_rank(&e->comm, place), PLM_PATIENCE_NONE, to, &known, e->part.bytes) ==
                   PLM_MESSAGE_KNOWN
               ? known
               : 0;
}

/* ---- keeping a promise ---- */

/* Where in what a sender sent this rank's part is. */
static size_t offset_of(const struct expected *e)
{
    return rules[e->part.kind].sent == ALL ? (size_t)e->comm.rank * e->part.bytes : 0;
}

/* False: some part has not come yet. */
static bool keep_gathered(const struct expected *e, const struct plm_promise *promise, enum plm_patience patience,
                          char *buffer)
{
    const struct rule *rule = &rules[e->part.kind];
    const size_t offset = offset_of(e);
    const bool one = rule->received == ONE;
    bool complete = true;
    for (int place = one ? e->part.root : 0; place < (one ? e->part.root + 1 : e->comm.size); place++) {
        const uint64_t at = one ? 0 : (uint64_t)place * e->part.bytes;
        size_t known;
        const enum plm_message_state state = take(e, place, patience, buffer, &known);
        complete &= state != PLM_MESSAGE_NONE;
        if (state == PLM_MESSAGE_UNKNOWN && rule->sent == ONE && (known = take_tail(e, place, buffer)))
            plm_promise_write(promise, at + e->part.bytes - known, buffer, known);
        if (state != PLM_MESSAGE_KNOWN)
            continue;
        known = known > offset ? known - offset : 0;
        if (known)
            plm_promise_write(promise, at, buffer + offset, known < e->part.bytes ? known : e->part.bytes);
    }
    return complete;
}

static bool keep_summed(const struct expected *e, const struct plm_promise *promise, enum plm_patience patience,
                        char *buffer)
{
    const size_t offset = offset_of(e), bytes = e->part.bytes;
    char *sum = buffer + most_of(&e->part);
    for (int place = 0; place < e->comm.size; place++) {
        size_t known;
        if (take(e, place, patience, buffer, &known) == PLM_MESSAGE_NONE)
            return false;
        if (known < offset + bytes)
            return true;
        if (!place)
            memcpy(sum, buffer + offset, bytes);
        else if (!plm_nccl_sum(sum, buffer + offset, bytes, e->part.type, e->part.op))
            return true;
    }
    if (plm_nccl_mean(sum, bytes, e->part.type, e->part.op, e->comm.size))
        plm_promise_write(promise, 0, sum, bytes);
    return true;
}

static bool keep(const struct plm_promise *promise, bool patient)
{
    const struct expected *e = promise->context;
    const enum plm_patience patience = patient && e->patient ? PLM_PATIENCE_VALUE : PLM_PATIENCE_NONE;
    char *buffer = malloc(2 * most_of(&e->part));
    bool done;
    if (!buffer)
        return true;
    done = rules[e->part.kind].sums ? keep_summed(e, promise, patience, buffer)
                                    : keep_gathered(e, promise, patience, buffer);
    free(buffer);
    return done || (patient && !e->patient);
}

/* ---- barriers ---- */

/* PyTorch's barrier is the sum of one number, and waiting for it: the last one that the thread asked for. */
static _Thread_local struct {
    struct plm_nccl_comm comm;
    struct plm_nccl_part part;
    uint64_t number; /* 0: none */
} summed;

static void barrier_wait(void)
{
    const struct expected e = {summed.comm, summed.part, summed.number, true};
    char number[sizeof(uint64_t)];
    size_t known;
    for (int place = 0; summed.number && place < e.comm.size; place++)
        take(&e, place, PLM_PATIENCE_BARRIER, number, &known);
    summed.number = 0;
}

static void barrier_note(const struct plm_nccl_comm *comm, const struct plm_nccl_part *part, uint64_t number)
{
    if (part->kind != PLM_COLLECTIVE_ALL_REDUCE || part->bytes > sizeof(uint64_t))
        return;
    summed.comm = *comm;
    summed.part = *part;
    summed.number = number;
    atomic_store_explicit(&plm_group_barrier, barrier_wait, memory_order_relaxed);
}

/* ---- calls ---- */

/* Can it be told at all? The same on all ranks. */
static bool is_small(const struct plm_nccl_comm *comm, const struct plm_nccl_part *part)
{
    const size_t sent = bytes_of(comm, part->bytes, rules[part->kind].sent);
    return comm->size > 1 && part->bytes && part->bytes <= most_of(part) && sent <= most_of(part) && comm->size_known &&
           plm_messages_here();
}

/* Is it kept for ranks that run later, or found if the sender ran before? What has one sender: of the others' contributions to
   a sum or a gather some would be missing. */
static bool is_kept(const struct plm_nccl_comm *comm, const struct plm_nccl_part *part)
{
    return comm->alone && comm->group && (rules[part->kind].sends == ROOT || is_single(part->kind));
}

size_t plm_nccl_exchange_known(const struct plm_nccl_comm *comm, struct plm_nccl_part *part)
{
    const struct rule *rule = &rules[part->kind];
    size_t known;
    if (!is_small(comm, part) || !takes_part(rule->sends, comm, part->root) || (comm->alone && !is_kept(comm, part)))
        return 0;
    known = plm_bytes_known(part->from, bytes_of(comm, part->bytes, rule->sent), plm_nccl_group_since());
    if (!known && rule->sent == ONE && !rule->sums)
        part->tail = plm_bytes_known_last(part->from, part->bytes);
    return known;
}

static bool promise(const struct plm_nccl_comm *comm, const struct plm_nccl_part *part, bool patient, uint64_t number)
{
    const struct rule *rule = &rules[part->kind];
    struct expected *e = malloc(sizeof *e);
    if (!e)
        return false;
    *e = (struct expected){*comm, *part, number, patient};
    plm_promise_add(&(struct plm_promise){.address = (uint64_t)part->to,
                                          .bytes = bytes_of(comm, part->bytes, rule->received),
                                          .launches = plm_launch_count(),
                                          .keep = keep,
                                          .context = e});
    return true;
}

/* Each sender is noted once for each kind of call. */
static void replay_note(const struct plm_nccl_comm *comm, const struct plm_nccl_part *part)
{
    static const char *const words[PLM_COLLECTIVES] = {[PLM_COLLECTIVE_BROADCAST] = "broadcast",
                                                       [PLM_COLLECTIVE_SCATTER] = "scatter",
                                                       [PLM_COLLECTIVE_RECEIVE] = "send"};
    static _Atomic uint64_t noted[PLM_COLLECTIVES]; /* a bit for each rank; those beyond share theirs */
    const int rank = job_rank(comm, part->root);
    const uint64_t bit = 1ull << ((unsigned)rank % 64);
    char text[48];
    atomic_fetch_add(&plm_group_replayed, 1);
    if (!words[part->kind] || atomic_fetch_or(&noted[part->kind], bit) & bit)
        return;
    snprintf(text, sizeof text, "%s from rank %d", words[part->kind], rank);
    plm_record_note("message-replayed", text);
}

/* What this rank sends is kept; what one sent that ran before is there at once, if it was known. */
static bool replay(const struct plm_nccl_comm *comm, const struct plm_nccl_part *part, size_t known, uint64_t number)
{
    const struct rule *rule = &rules[part->kind];
    const struct expected e = {*comm, *part, number, false};
    char *buffer;
    bool found;
    if (known && takes_part(rule->sends, comm, part->root))
        post(comm, part, known, number);
    if (!part->to || part->root == comm->rank || !takes_part(rule->receives, comm, part->root))
        return false;
    buffer = malloc(most_of(part));
    found = buffer && take(&e, part->root, PLM_PATIENCE_NONE, buffer, &known) == PLM_MESSAGE_KNOWN;
    free(buffer);
    if (!found || !promise(comm, part, false, number))
        return false;
    replay_note(comm, part);
    return true;
}

bool plm_nccl_exchange(struct plm_nccl_comm *comm, const struct plm_nccl_part *part, size_t known)
{
    const struct rule *rule = &rules[part->kind];
    const uint64_t number = is_single(part->kind) ? count_single(comm, part) : ++comm->collectives;
    const bool sends = takes_part(rule->sends, comm, part->root);
    if (comm->size > 1 && part->to && takes_part(rule->receives, comm, part->root))
        plm_bytes_forget(part->to, bytes_of(comm, part->bytes, rule->received)); /* what peers do is assumed */
    if (!number || !is_small(comm, part))
        return false;
    if (comm->alone)
        return is_kept(comm, part) && replay(comm, part, known, number);
    if (sends)
        post(comm, part, known, number);
    barrier_note(comm, part, number);
    if (!part->to || !takes_part(rule->receives, comm, part->root) || (rule->sums && !known))
        return false;
    return promise(comm, part, known || part->tail || !sends, number);
}
