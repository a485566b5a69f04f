#include "stack/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/install.h"
#include "base/card.h"

static int add_file(struct plm_stack_list *s, const char *path, bool own, struct plm_error *error)
{
    struct plm_stack_file *stack = NULL;
    int status;
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 16;
        struct plm_stack_entry *more = realloc(s->entry, (size_t)room * sizeof *more);
        if (!more)
            return plm_fail(error, PLM_ENOMEM, "out of memory");
        s->entry = more;
        s->room = room;
    }
    status = plm_stack_file_read(path, &stack, error);
    if (status < 0)
        return status;
    s->entry[s->count] = (struct plm_stack_entry){.stack = stack, .own = own};
    snprintf(s->entry[s->count++].path, sizeof s->entry[0].path, "%s", path);
    return 0;
}

static bool is_path(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && !strcmp(name + n - 4, ".ini"));
}

static int is_stack_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && is_path(entry->d_name);
}

static int add_folder(struct plm_stack_list *s, const char *folder, bool own, struct plm_error *error)
{
    struct dirent **names = NULL;
    int n = scandir(folder, &names, is_stack_file, alphasort), status = 0;
    if (n < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : plm_fail(error, PLM_EIO, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        char path[4096];
        int length = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (status == 0 && length > 0 && (size_t)length < sizeof path)
            status = add_file(s, path, own, error);
        free(names[i]);
    }
    free(names);
    return status;
}

const char *plm_stack_list_own(char *out, size_t size)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config && *config)
        snprintf(out, size, "%s/plimsoll/stacks", config);
    else
        snprintf(out, size, "%s/.config/plimsoll/stacks", home ? home : "");
    return out;
}

int plm_stack_list_load(struct plm_stack_list *s, const struct plm_install *install, struct plm_error *error)
{
    char folder[4096];
    int status;
    memset(s, 0, sizeof *s);
    status = add_folder(s, install->stacks, false, error);
    if (status == 0)
        status = add_folder(s, plm_stack_list_own(folder, sizeof folder), true, error);
    if (status < 0)
        plm_stack_list_free(s);
    return status;
}

void plm_stack_list_free(struct plm_stack_list *s)
{
    for (int i = 0; i < s->count; i++)
        plm_stack_file_free(s->entry[i].stack);
    free(s->entry);
    memset(s, 0, sizeof *s);
}

int plm_stack_list_find(struct plm_stack_list *s, const char *name, const struct plm_stack_entry **out,
                        struct plm_error *error)
{
    if (is_path(name)) {
        int status = add_file(s, name, true, error);
        if (status == 0)
            *out = &s->entry[s->count - 1];
        return status;
    }
    /* The last match wins, so that a user's own file can replace one of ours. */
    for (int i = s->count - 1; i >= 0; i--)
        if (!strcmp(s->entry[i].stack->id, name)) {
            *out = &s->entry[i];
            return 0;
        }
    return plm_fail(error, PLM_ENOTFOUND, "unknown stack '%s'; `plimsoll stacks` lists the known ones", name);
}

bool plm_stack_on_card(const struct plm_stack_file *s, const struct plm_card *card)
{
    if (!s->gpu[0] && !s->major && !s->sms)
        return false;
    return (!s->gpu[0] || plm_card_matches(card, s->gpu)) &&
           (!s->major || (s->major == card->major && s->minor == card->minor)) && (!s->sms || s->sms == card->sms);
}

const struct plm_stack_entry *plm_stack_list_for(const struct plm_stack_list *s, const struct plm_card *card)
{
    const struct plm_stack_entry *best = NULL;
    for (int i = 0; i < s->count; i++) {
        const struct plm_stack_entry *e = &s->entry[i];
        if (e->stack->made != PLM_STACK_MEASURED || !plm_stack_on_card(e->stack, card))
            continue;
        if (!best || strcmp(e->stack->date, best->stack->date) >= 0) /* dates are ISO: text order is time order */
            best = e;
    }
    return best;
}
