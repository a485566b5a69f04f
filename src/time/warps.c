#include <math.h>
#include <stddef.h>

#include "time/cost.h"
#include "time/speeds.h"

/* Kernels that compute a product without tensor cores: the tile of a block, its warps, and the blocks that fit on a
   multiprocessor, which its registers decide. How fast each is beside the others are constants of the speeds. */
static const struct kernel {
    double m, n, warps, fit;
    int rate; /* in plm_speed[] */
} kernels[] = {
    {256, 128, 8, 1, PLM_SPEED_simt_256x128}, {128, 256, 8, 1, PLM_SPEED_simt_256x128},
    {128, 128, 8, 2, PLM_SPEED_simt_128x128}, {128, 64, 4, 4, PLM_SPEED_simt_128x64},
    {64, 128, 4, 4, PLM_SPEED_simt_64x128},   {64, 64, 4, 6, PLM_SPEED_simt_64x64},
    {128, 32, 8, 4, PLM_SPEED_simt_128x32},   {32, 128, 8, 4, PLM_SPEED_simt_128x32},
    {64, 32, 4, 6, PLM_SPEED_simt_64x32},     {32, 64, 4, 6, PLM_SPEED_simt_64x32},
    {32, 32, 4, 5, PLM_SPEED_simt_32x32},
};

struct attempt {
    double ns;
    double resident; /* warps of a multiprocessor, on average over all of them and over ns */
};

/* Full waves, then one that is not: there a multiprocessor has fewer blocks, and one alone cannot use all of it. */
static struct attempt attempt_make(const struct plm_machine *m, const struct plm_product *p, const struct kernel *k,
                                   double parts)
{
    const struct plm_speeds *s = m->speeds;
    const double share = plm_speed_get(s, &plm_speed[k->rate]);
    const double rate = m->peak[p->type] / m->sms * s->simt_efficiency * share * p->efficiency;
    const double alone = 1 / k->fit + (1 - 1 / k->fit) * s->simt_alone;
    const double block_ns = 2 * k->m * k->n * ceil(p->k / parts / 16) * 16 / rate;
    const double blocks = ceil(p->m / k->m) * ceil(p->n / k->n) * p->batch * parts;
    const double waves = floor(blocks / (m->sms * k->fit)), rest = blocks - waves * m->sms * k->fit;
    const double waves_ns = waves * k->fit * block_ns;
    const double rest_ns = rest > 0 ? block_ns * fmax(ceil(rest / m->sms), 1 / alone) : 0;
    struct attempt a = {.ns = waves_ns + rest_ns + (s->floor_us + s->prologue_us) * 1e3};
    if (parts > 1)
        a.ns += plm_cost_parts(m, p, parts);
    a.resident = k->warps * (waves_ns * k->fit + rest_ns * rest / m->sms) / a.ns;
    return a;
}

double plm_cost_warps(const struct plm_machine *m, const struct plm_product *p)
{
    static const double parts[] = {1, 2, 4, 8, 16};
    const double sharpness = 1 / m->speeds->simt_spread;
    double first = 0, weights = 0, sum = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        for (size_t k = 0; k < sizeof parts / sizeof parts[0] && (k == 0 || p->k / parts[k] >= 128); k++) {
            const struct attempt a = attempt_make(m, p, &kernels[i], parts[k]);
            double weight;
            if (first <= 0)
                first = a.ns;
            weight = pow(first / a.ns, sharpness);
            weights += weight;
            sum += weight * a.resident;
        }
    return sum / weights;
}
