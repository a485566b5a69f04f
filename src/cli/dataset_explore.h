/* `plimsoll dataset --explore TABLE.csv`: its options are a part of those of `dataset`. */
#ifndef PLM_CLI_DATASET_EXPLORE_H
#define PLM_CLI_DATASET_EXPLORE_H

#include "base/options.h"
#include "cli/cli.h"

struct plm_cli_dataset_explore {
    const char *table, *target; /* target NULL: the usual column */
    const char *html;           /* NULL: the summary alone; "-": standard output, and no summary */
    int bin;                    /* 0: the usual width */
};
extern const struct plm_option plm_cli_dataset_explore_options[];

/* PLM_EINVAL with a sentence for options that need --explore where that is not given. */
int plm_cli_dataset_explore_check(const struct plm_cli_dataset_explore *request, struct plm_error *error);
/* Returns an exit status. */
int plm_cli_dataset_explore(const struct plm_cli_dataset_explore *request, uint64_t seed, bool force,
                            const struct plm_look *look);

#endif
