/* How many GPUs of a node a launcher's line asks for; accelerate's may be in a file of settings. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/input.h"
#include "base/memory.h"
#include "world/launcher.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The value of an option that is written --name V or --name=V, with - or _ between its words; NULL: it is not there. */
static const char *option_value(char *const *command, const char *name)
{
    const size_t length = strlen(name);
    const char *found = NULL;
    for (int i = 1; command[i]; i++) {
        size_t k = 0;
        if (strncmp(command[i], "--", 2) != 0)
            continue;
        while (k < length && (command[i][2 + k] == '-' ? '_' : command[i][2 + k]) == name[k])
            k++;
        if (k == length && command[i][2 + k] == '=')
            found = command[i] + 2 + k + 1;
        else if (k == length && !command[i][2 + k] && command[i + 1])
            found = command[i + 1];
    }
    return found;
}

/* ---- accelerate's settings ---- */

static bool is_accelerate(char *const *command)
{
    const char *name = base_name(command[0]);
    if (!strcmp(name, "accelerate") || !strcmp(name, "accelerate-launch"))
        return true;
    return command[1] && command[2] && !strcmp(command[1], "-m") && !strcmp(command[2], "accelerate.commands.launch");
}

/* Where `accelerate config` writes; NULL: nobody knows. */
static char *settings_default(void)
{
    const char *hub = getenv("HF_HOME"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (hub)
        return plm_asprintf("%s/accelerate/default_config.yaml", hub);
    if (cache)
        return plm_asprintf("%s/huggingface/accelerate/default_config.yaml", cache);
    return home ? plm_asprintf("%s/.cache/huggingface/accelerate/default_config.yaml", home) : NULL;
}

/* `num_processes: 4` of YAML, or `"num_processes": 4,` of JSON, as the outermost keys are written; 0: it is another line. */
static unsigned setting_read(const char *line, const char *key)
{
    const char *at = line + strspn(line, " \t\"'");
    const size_t length = strlen(key);
    if (strncmp(at, key, length) != 0)
        return 0;
    at += length;
    at += strspn(at, "\"'");
    return *at == ':' ? (unsigned)strtoul(at + 1 + strspn(at + 1, " \t\"'"), NULL, 10) : 0;
}

/* num_processes is that of all machines. A file that cannot be read is accelerate's to complain about. */
static unsigned settings_gpus(const char *path)
{
    FILE *file = fopen(path, "re");
    unsigned processes = 0, machines = 1;
    char line[1024];
    while (file && plm_input_line(file, line, sizeof line)) {
        const unsigned p = setting_read(line, "num_processes"), m = setting_read(line, "num_machines");
        processes = p ? p : processes;
        machines = m ? m : machines;
    }
    if (file)
        fclose(file);
    return processes / machines;
}

static unsigned accelerate_gpus(char *const *command)
{
    const char *processes = option_value(command, "num_processes"), *file = option_value(command, "config_file");
    char *path = processes ? NULL : file ? plm_strdup(file) : settings_default();
    const unsigned gpus = processes ? (unsigned)strtoul(processes, NULL, 10) : path ? settings_gpus(path) : 0;
    free(path);
    return gpus;
}

/* ---- Lightning ---- */

/* `2`, or the numbers of the GPUs, `0,3` and `[0, 3]`, which must be there; 0: auto, or all. */
static unsigned devices_gpus(const char *devices)
{
    const bool several = strpbrk(devices, "[,") != NULL;
    unsigned highest = 0;
    for (const char *at = devices + strspn(devices, "[ "); isdigit((unsigned char)*at); at += strspn(at, ", ")) {
        char *end;
        const unsigned number = (unsigned)strtoul(at, &end, 10);
        highest = number > highest ? number : highest;
        at = end;
    }
    return highest + several;
}

/* The line of LightningCLI, or of `fabric run`. What a program calls itself says nothing of it. */
static unsigned lightning_gpus(char *const *command)
{
    const bool fabric = !strcmp(base_name(command[0]), "fabric") && command[1] && !strcmp(command[1], "run");
    const char *devices = option_value(command, fabric ? "devices" : "trainer.devices");
    return devices ? devices_gpus(devices) : 0;
}

int plm_launcher_gpus(char *const *command, int most)
{
    const char *deepspeed = strcmp(base_name(command[0]), "deepspeed") ? NULL : option_value(command, "num_gpus");
    struct plm_launcher_line line;
    unsigned gpus = 0;
    if (plm_launcher_read(command, &line, NULL) == 0) {
        gpus = line.per_node ? line.per_node : line.world / (line.nodes ? line.nodes : 1);
        plm_launcher_line_free(&line);
    }
    if (is_accelerate(command))
        gpus = accelerate_gpus(command);
    else if (deepspeed)
        gpus = (unsigned)strtoul(deepspeed, NULL, 10);
    else if (!gpus)
        gpus = lightning_gpus(command);
    return gpus <= (unsigned)most ? (int)gpus : most;
}
