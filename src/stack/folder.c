#include "stack/folder.h"

#include <stdio.h>
#include <string.h>

#include "common/card.h"
#include "common/error.h"
#include "base/install.h"
#include "base/memory.h"
#include "base/words.h"

static int file_add(const char *path, bool own, void *context, struct plm_error *error)
{
    struct plm_stack_list *s = context;
    struct plm_stack_file *stack = NULL;
    int status = plm_stack_file_read(path, &stack, error);
    if (status < 0)
        return status;
    s->entry = plm_grow(s->entry, (size_t)s->count, &s->room, sizeof *s->entry);
    s->entry[s->count] = (struct plm_stack_entry){.stack = stack, .own = own};
    snprintf(s->entry[s->count++].path, sizeof s->entry[0].path, "%s", path);
    return 0;
}

int plm_stack_list_load(struct plm_stack_list *s, const struct plm_install *install, struct plm_error *error)
{
    int status;
    *s = (struct plm_stack_list){0};
    status = plm_install_each(install->stacks, "stacks", file_add, s, error);
    if (status < 0)
        plm_stack_list_free(s);
    return status;
}

void plm_stack_list_free(struct plm_stack_list *s)
{
    for (int i = 0; i < s->count; i++)
        plm_stack_file_free(s->entry[i].stack);
    free(s->entry);
    *s = (struct plm_stack_list){0};
}

static bool is_path(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && !strcmp(name + n - 4, ".ini"));
}

int plm_stack_list_find(struct plm_stack_list *s, const char *name, const struct plm_stack_entry **out,
                        struct plm_error *error)
{
    struct plm_nearest nearest = {.typed = name};
    if (is_path(name)) {
        int status = file_add(name, true, s, error);
        if (status == 0)
            *out = &s->entry[s->count - 1];
        return status;
    }
    /* The last match wins, so that a user's own file can replace one of ours. */
    for (int i = s->count - 1; i >= 0; i--) {
        if (!strcmp(s->entry[i].stack->id, name)) {
            *out = &s->entry[i];
            return 0;
        }
        plm_nearest_see(&nearest, s->entry[i].stack->id);
    }
    return plm_fail(error, PLM_EINVAL, "unknown stack '%.100s'; %s%s%s`plimsoll stacks` lists the known ones", name,
                    nearest.best ? "did you mean " : "", nearest.best ? nearest.best : "", nearest.best ? "? " : "");
}

bool plm_stack_on_card(const struct plm_stack_file *s, const struct plm_card *card)
{
    if (!s->gpu[0] && !s->major && !s->sms)
        return false;
    return (!s->gpu[0] || plm_card_match(card, s->gpu) > PLM_CARD_SHORT) &&
           (!s->major || (s->major == card->major && s->minor == card->minor)) && (!s->sms || s->sms == card->sms);
}

/* What was written down is for somebody to name: no file but a measured one is taken by itself. */
const struct plm_stack_entry *plm_stack_list_for(const struct plm_stack_list *s, const struct plm_card *card)
{
    const struct plm_stack_entry *best = NULL;
    for (int i = 0; i < s->count; i++) {
        const struct plm_stack_entry *e = &s->entry[i];
        if (e->stack->made != PLM_STACK_MEASURED || !plm_stack_on_card(e->stack, card))
            continue;
        /* dates are ISO: text order is time order */
        if (!best || strcmp(e->stack->date, best->stack->date) >= 0)
            best = e;
    }
    return best;
}
