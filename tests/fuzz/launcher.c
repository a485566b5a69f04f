/*
 * Command lines that begin with a launcher: words that end with zeros, as an argument vector has them. After an empty word
 * comes what the file "hosts" holds, a list of nodes for mpirun and a runtime environment for Ray.
 */
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "fuzz.h"
#include "world/launcher.h"

enum { WORDS = 256 };

static void line_check(struct plm_launcher_line *line)
{
    const struct plm_world_rank one = {.world = 1, .nodes = 1, .per_node = 1};
    char *const *words = line->words ? plm_launcher_words(line, &one) : NULL;
    MUST(line->world <= PLM_WORLD_MOST && line->nodes <= PLM_WORLD_MOST && line->per_node <= PLM_WORLD_MOST);
    MUST(line->port >= 0 && line->port <= 65535);
    MUST(!words == (line->launcher == PLM_LAUNCHER_NONE));
    MUST(!words || (words[0] && line->name[0]));
    MUST(!line->local_rank || !strcmp(words[line->local_rank], "--local-rank=0"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *words[WORDS + 1] = {0}, *text = malloc(size + 2), *at = text;
    struct plm_launcher_line line;
    struct plm_error error = {0};
    unsigned nodes;
    MUST(text);
    memcpy(text, data, size);
    memset(text + size, 0, 2);
    setenv("PATH", "", 1); /* no program is looked for */
    for (int i = 0; i < WORDS && *at; at += strlen(at) + 1)
        words[i++] = at;
    at += at < text + size;
    fuzz_place("hosts", at, (size_t)(text + size - at) * (at < text + size));
    if (words[0]) {
        if (plm_launcher_read(words, &line, &error))
            MUST(error.text[0]); /* what the user wrote stands in it */
        else
            line_check(&line);
        plm_launcher_line_free(&line);
        MUST(plm_launcher_nodes(words[0], &nodes, &error) || (nodes && nodes <= PLM_WORLD_MOST));
    }
    free(text);
    return 0;
}
