/*
 * The board of messages, on which another process may have written anything. Each piece of an input is a byte that says what
 * happens and some that say with what: this process posts, looks, joins a group, ends a step, or bytes are written into a
 * part of the board. The source is included for the board's layout and so that each input begins anew.
 */
#include "world/messages.c"

#include <stdio.h>

#include "fuzz.h"

static const struct plm_message_key group = {11, 12};
enum { BYTES = 192, KEYS = 4 };

static struct plm_message message(unsigned number)
{
    const uint64_t which[] = {number % KEYS, 0};
    return (struct plm_message){plm_message_key(group, which, sizeof which), group, (int)(number & 1), number % KEYS};
}

static void board_renew(void)
{
    static bool made;
    if (!made) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", plm_messages_create());
        setenv("PLIMSOLL_MESSAGES", path, 1);
        setenv("PLIMSOLL_LIVE", "0-1", 1);
        plm_messages_join(0); /* a place is held until the process ends */
        MUST(has_joined());
        made = true;
    }
    MUST(!fallocate(mine.file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)sizeof(struct board)));
    mine.board->magic = MAGIC;
    place_take(mine.board, mine.place, 0);
    plm_messages_attach(group, 0);
}

/* Where somebody else writes. */
static void *part_of(unsigned which, unsigned number, size_t *size)
{
    struct board *b = mine.board;
    const struct plm_message m = message(number);
    const struct part {
        void *at;
        size_t size;
    } parts[] = {
        {&b->head, sizeof b->head},
        {&b->process[number % 3], sizeof b->process[0]},
        {&members_near(b, group, (int)(number & 1))[number % 3], sizeof(struct member)},
        {&entries_near(b, m.key)[number % 3], sizeof(struct entry)},
        {b->ring + number % 8 * ALIGN, ALIGN},
        {b->ring + RING_BYTES - (1 + number % 4) * ALIGN, ALIGN},
    };
    const struct part *part = &parts[which % (sizeof parts / sizeof parts[0])];
    *size = part->size;
    return part->at;
}

/* A message of a size that nobody posted is unknown, and one that is known fills no more than there is room for. */
static void message_take(unsigned number, size_t size)
{
    unsigned char *to = malloc(size + 1); /* so that a byte too many is seen */
    const struct plm_message m = message(number);
    size_t known = SIZE_MAX;
    MUST(to);
    plm_messages_take(&m, (int)(number & 1), PLM_PATIENCE_NONE, to, &known, size);
    MUST(known <= size);
    free(to);
}

static void one_happens(const uint8_t *piece)
{
    const unsigned what = piece[0], number = piece[1];
    static const unsigned char bytes[BYTES];
    const struct plm_message m = message(number);
    switch (what % 4) {
    case 0: plm_messages_post(&m, bytes, piece[2] % BYTES, BYTES); break;
    case 1: message_take(number, piece[2]); break;
    case 2: plm_messages_attach(group, (int)(number & 1)); break;
    case 3: plm_messages_enough(number, piece[2] & 1); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { PIECE = 3, WRITES = 0x80 };
    board_renew();
    while (size >= PIECE) {
        size_t written = 0;
        if (data[0] & WRITES) {
            void *to = part_of(data[0] & 0x7f, data[1], &written);
            const size_t at = data[2] % written;
            written = written - at < size - PIECE ? written - at : size - PIECE;
            written = written < 8 ? written : 8; /* a field */
            memcpy((char *)to + at, data + PIECE, written);
        } else
            one_happens(data);
        data += PIECE + written;
        size -= PIECE + written;
    }
    return 0;
}
