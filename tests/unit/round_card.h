/* A card whose figures are round, and constants that lose nothing: what work costs on it can be worked out by hand. */
#ifndef PLM_UNIT_ROUND_CARD_H
#define PLM_UNIT_ROUND_CARD_H

#include "common/card.h"
#include "time/speeds.h"

/* 1000 bytes, 10,000 flops in fp32 and 100,000 in fp16 a ns on ten multiprocessors; 100 bytes a ns to other cards, 31.5
   to the host. No cache. */
extern const struct plm_card round_card;

/* Every constant is 1, or as near as it may be; what begins, fills and ends a kernel takes no time. */
struct plm_speeds round_speeds(void);

#endif
