#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "shim/cuda/driver.h"
#include "shim/cuda/module.h"

/*
 * Reads the names of the kernels in an image: sections ".text.NAME" of an ELF, ".entry NAME" of PTX.
 * The images come from a compiler in this process or on this machine; their own headers say how far
 * they reach, and that much is believed, as the real driver does.
 */

enum { NAMES_MAX = 65536, SECTIONS_MAX = 1 << 20 };

static void name_add(struct plm_cu_names *out, const char *name, size_t length)
{
    char **more, *copy;
    if (!length || out->count == NAMES_MAX)
        return;
    more = realloc(out->name, (out->count + 1) * sizeof *more);
    copy = more ? strndup(name, length) : NULL;
    if (more)
        out->name = more;
    if (copy)
        out->name[out->count++] = copy;
}

static void read_elf(const char *image, struct plm_cu_names *out)
{
    static const char prefix[] = ".text.";
    Elf64_Ehdr head;
    const char *table;
    Elf64_Shdr strings;

    memcpy(&head, image, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr) || !head.e_shoff ||
        head.e_shstrndx >= head.e_shnum)
        return;
    table = image + head.e_shoff;
    memcpy(&strings, table + head.e_shstrndx * sizeof strings, sizeof strings);
    if (strings.sh_type != SHT_STRTAB)
        return;
    out->known = true;
    for (unsigned i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr section;
        const char *name;
        size_t length;
        memcpy(&section, table + i * sizeof section, sizeof section);
        if (section.sh_name >= strings.sh_size)
            continue;
        name = image + strings.sh_offset + section.sh_name;
        length = strnlen(name, strings.sh_size - section.sh_name);
        if (length > sizeof prefix - 1 && !memcmp(name, prefix, sizeof prefix - 1))
            name_add(out, name + sizeof prefix - 1, length - (sizeof prefix - 1));
    }
}

static void read_ptx(const char *text, struct plm_cu_names *out)
{
    static const char word[] = ".entry";
    out->known = true;
    for (const char *at = strstr(text, word); at; at = strstr(at, word)) {
        at += sizeof word - 1;
        at += strspn(at, " \t\r\n");
        name_add(out, at, strcspn(at, " \t\r\n(;{"));
    }
}

void plm_cu_names_read(const void *image, struct plm_cu_names *out)
{
    uint32_t first;
    *out = (struct plm_cu_names){NULL, 0, false};
    memcpy(&first, image, sizeof first);
    if (!memcmp(image, ELFMAG, SELFMAG))
        read_elf(image, out);
    else if ((first & 0x80808080u) == 0) /* text; the marks of fat binaries have high bits */
        read_ptx(image, out);
}

void plm_cu_names_free(struct plm_cu_names *names)
{
    for (unsigned i = 0; i < names->count; i++)
        free(names->name[i]);
    free(names->name);
    *names = (struct plm_cu_names){NULL, 0, false};
}
