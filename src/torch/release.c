#include "torch/release.h"

#include <stddef.h>
#include <stdlib.h>

/* From which release on each behaves so. The age of a segment decides between blocks of one size since 2.13
   (pytorch/pytorch#183591); 2.11 and 2.12 compare addresses as 2.10 does. */
static const struct {
    const char *name;
    unsigned number, since;
} releases[PLM_TORCHES] = {
    [PLM_TORCH_2_6] = {"2.6", 2006, 0},
    [PLM_TORCH_2_10] = {"2.10", 2010, 2010},
    [PLM_TORCH_2_15] = {"2.15", 2015, 2013},
};

const char *plm_torch_name(enum plm_torch torch)
{
    return releases[torch].name;
}

unsigned plm_torch_stands_for(enum plm_torch torch)
{
    return releases[torch].number;
}

unsigned plm_torch_number(const char *version)
{
    char *rest;
    unsigned long major, minor;
    if (!version || *version < '0' || *version > '9')
        return 0;
    major = strtoul(version, &rest, 10);
    if (*rest != '.' || rest[1] < '0' || rest[1] > '9')
        return 0;
    minor = strtoul(rest + 1, NULL, 10);
    return major < 1000 && minor < 1000 ? (unsigned)(major * 1000 + minor) : 0;
}

enum plm_torch plm_torch_of(unsigned number)
{
    int found = 0;
    if (!number)
        return PLM_TORCHES - 1;
    for (int i = 1; i < PLM_TORCHES; i++)
        if (number >= releases[i].since)
            found = i;
    return (enum plm_torch)found;
}

enum plm_torch plm_torch_version(const char *version)
{
    return plm_torch_of(plm_torch_number(version));
}
