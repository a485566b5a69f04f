#include "study/evaluate/random.h"

static uint64_t turn(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

void plm_random_start(struct plm_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        random->state[i] = z ^ (z >> 31);
    }
}

uint64_t plm_random_next(struct plm_random *random)
{
    uint64_t *s = random->state, result = turn(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = turn(s[3], 45);
    return result;
}

/* What lies beyond the last whole multiple is drawn again, else the first numbers would come more often. */
size_t plm_random_below(struct plm_random *random, size_t below)
{
    uint64_t beyond, value;
    if (below < 2)
        return 0;
    beyond = (0 - (uint64_t)below) % below;
    do
        value = plm_random_next(random);
    while (value < beyond);
    return (size_t)(value % below);
}
