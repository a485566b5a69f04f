/* What the store of a job is sent: two connections that take turns, as the first byte of each piece says. */
#include <string.h>

#include "fuzz.h"
#include "world/store.h"

static void look(const struct plm_store *store)
{
    const struct plm_store_made *made;
    const size_t count = plm_store_made(store, &made);
    for (size_t i = 0; i < count; i++)
        fuzz_plain(made[i].pattern, strlen(made[i].pattern));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t hello[] = {0, 0xce, 0xf7, 0x85, 0x3c};
    struct plm_store *store = plm_store_new(8, 2);
    struct plm_store_client *client[2];
    bool open[2] = {true, true};
    for (int i = 0; i < 2; i++) {
        client[i] = plm_store_join(store, i + 1);
        MUST(plm_store_feed(store, client[i], hello, sizeof hello) == 0);
    }
    while (size) {
        const int who = data[0] & 1;
        const size_t rest = size - 1, piece = rest < data[0] / 2u ? rest : data[0] / 2u;
        size_t there;
        if (open[who] && plm_store_feed(store, client[who], data + 1, piece)) {
            plm_store_drop(store, client[who]);
            open[who] = false;
        } else if (open[who]) {
            plm_store_answer(client[who], &there);
            plm_store_sent(client[who], there);
        }
        if (plm_store_stuck(store)) {
            MUST(plm_store_make_up(store) > 0);
            MUST(!plm_store_stuck(store));
        }
        data += 1 + piece;
        size -= 1 + piece;
    }
    look(store);
    plm_store_free(store);
    return 0;
}
