#include "device/module.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/card.h"
#include "device/lock.h"

/*
 * What code a module has, and its kernels by name.
 *
 * An image comes without its length, so no more than its own headers vouch for is read, and only
 * while it is opened: the application may free it right afterwards.
 */

#define WRAPPER_MAGIC   0x466243b1u /* what nvcc's host code registers: points to a container */
#define CONTAINER_MAGIC 0xba55ed50u

enum { KIND_PTX = 1, KIND_ELF = 2 };
enum { EM_GPU = 190, ELF_FLAGS_AT = 48, ELF_MACHINE_AT = 18, ELF_ABI_AT = 8 };
enum { ELF_SECTIONS_AT = 40, ELF_SECTION_SIZE_AT = 58, ELF_SECTION_COUNT_AT = 60 };
enum { PTX_LOOK = 64 * 1024, CONTAINER_HEAD = 16, ENTRY_HEAD = 48, ENTRIES_MAX = 256, SLOTS_FIRST = 16 };

/* Set on entries built for one compute capability only (the "a" of sm_90a). */
#define ENTRY_EXACT (1ull << 20)
/* Packed by LZ4 or by Zstandard; the size before stands behind the fields that all entries have. */
#define ENTRY_PACKED      (1ull << 13 | 1ull << 15)
#define ENTRY_UNPACKED_AT 56

/* An image also holds names, relocations and other tables that stay on the host: an eighth, in PyTorch's. Machine code
   takes about half the bytes of the intermediate text that it is made from. */
#define LOADED(bytes)   ((bytes) / 8 * 7)
#define COMPILED(bytes) ((bytes) / 2)
#define IMAGE_MAX       (1ull << 32) /* no image is larger: what says so is damaged */

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *unused;
};

struct container_entry {
    uint16_t kind, version;
    uint32_t head_size;
    uint64_t size;
    uint32_t packed_size, unused;
    uint16_t minor, major; /* of the format */
    uint32_t sm;
    uint32_t name_offset, name_size;
    uint64_t flags;
};

/* One piece of code: for which compute capability, as major * 10 + minor. */
struct code {
    uint64_t bytes; /* of it that a card takes in, as far as can be told */
    uint16_t sm;
    bool portable; /* PTX and other intermediate code: compiled for any newer card */
    bool exact;    /* for that card alone */
};

struct plm_module {
    struct code *codes;
    unsigned code_count;
    unsigned expected; /* kernels that the image has; 0: not known */
    bool registered;
    struct plm_kernel **slots; /* open addressing, a power of two, never full */
    size_t slot_count, kernel_count;
};

static int add_code(struct plm_module *m, unsigned sm, bool portable, bool exact, uint64_t bytes)
{
    struct code *more = realloc(m->codes, (m->code_count + 1) * sizeof *more);
    if (!more)
        return PLM_MODULE_NOMEM;
    m->codes = more;
    m->codes[m->code_count++] = (struct code){bytes, (uint16_t)sm, portable, exact};
    return 0;
}

/* ---- reading images ---- */

/* To the end of the section table, which stands behind the sections. */
static uint64_t elf_bytes(const unsigned char *image)
{
    uint64_t sections;
    uint16_t size, count;
    memcpy(&sections, image + ELF_SECTIONS_AT, sizeof sections);
    memcpy(&size, image + ELF_SECTION_SIZE_AT, sizeof size);
    memcpy(&count, image + ELF_SECTION_COUNT_AT, sizeof count);
    return sections < IMAGE_MAX ? sections + (uint64_t)size * count : 0;
}

static int read_elf(struct plm_module *m, const unsigned char *image)
{
    uint16_t machine;
    uint32_t flags;
    uint64_t bytes = LOADED(elf_bytes(image));

    memcpy(&machine, image + ELF_MACHINE_AT, sizeof machine);
    memcpy(&flags, image + ELF_FLAGS_AT, sizeof flags);
    if (machine != EM_GPU)
        return PLM_MODULE_INVALID;
    /* The capability moved up a byte with the eighth version of the format. */
    if (image[ELF_ABI_AT] >= 8)
        return add_code(m, flags >> 8 & 0xff, false, flags & 0x8, bytes);
    return add_code(m, flags & 0xff, false, flags & 0x800, bytes);
}

/* ".target sm_90a, texmode_independent": the first number after sm_. */
static int read_ptx(struct plm_module *m, const char *text)
{
    size_t length = strnlen(text, PTX_LOOK);
    const char *target = memmem(text, length, ".target", strlen(".target"));
    const char *end = text + length, *at;
    uint64_t bytes = COMPILED(length);
    unsigned sm = 0;

    if (!target)
        return memmem(text, length, ".version", strlen(".version")) ? add_code(m, 0, true, false, bytes)
                                                                    : PLM_MODULE_INVALID;
    at = memmem(target, (size_t)(end - target), "sm_", 3);
    if (!at)
        return add_code(m, 0, true, false, bytes);
    for (at += 3; at < end && *at >= '0' && *at <= '9' && sm < 1000; at++)
        sm = sm * 10 + (unsigned)(*at - '0');
    return add_code(m, sm, true, at < end && *at == 'a', bytes);
}

static uint64_t entry_bytes(const struct container_entry *entry, const unsigned char *at)
{
    uint64_t bytes = entry->size;
    if (entry->flags & ENTRY_PACKED && entry->head_size >= ENTRY_UNPACKED_AT + sizeof bytes)
        memcpy(&bytes, at + ENTRY_UNPACKED_AT, sizeof bytes);
    if (bytes > IMAGE_MAX)
        bytes = 0;
    return entry->kind == KIND_ELF ? LOADED(bytes) : COMPILED(bytes);
}

static int read_container(struct plm_module *m, const unsigned char *image)
{
    uint16_t head;
    uint64_t left;
    const unsigned char *at;
    int status = 0;

    memcpy(&head, image + 6, sizeof head);
    memcpy(&left, image + 8, sizeof left);
    if (head < CONTAINER_HEAD)
        return PLM_MODULE_INVALID;
    at = image + head;
    for (int i = 0; i < ENTRIES_MAX && left >= ENTRY_HEAD && status == 0; i++) {
        struct container_entry entry;
        memcpy(&entry, at, ENTRY_HEAD);
        if (entry.head_size < ENTRY_HEAD || entry.head_size > left || entry.size > left - entry.head_size)
            break;
        if (entry.sm && entry.sm < UINT16_MAX)
            status = add_code(m, entry.sm, entry.kind != KIND_ELF, entry.flags & ENTRY_EXACT, entry_bytes(&entry, at));
        at += entry.head_size + entry.size;
        left -= entry.head_size + entry.size;
    }
    return status;
}

static int read_image(struct plm_module *m, const void *image)
{
    static const unsigned char elf_magic[4] = {0x7f, 'E', 'L', 'F'};
    uint32_t magic;

    memcpy(&magic, image, sizeof magic);
    if (magic == WRAPPER_MAGIC) {
        image = ((const struct wrapper *)image)->data;
        if (!image)
            return PLM_MODULE_INVALID;
        memcpy(&magic, image, sizeof magic);
    }
    if (magic == CONTAINER_MAGIC)
        return read_container(m, image);
    if (!memcmp(&magic, elf_magic, sizeof magic))
        return read_elf(m, image);
    return read_ptx(m, image);
}

int plm_module_open(const void *image, struct plm_module **out)
{
    struct plm_module *m;
    int status;

    if (!image || !out)
        return PLM_MODULE_INVALID;
    m = calloc(1, sizeof *m);
    if (!m)
        return PLM_MODULE_NOMEM;
    status = read_image(m, image);
    if (status) {
        plm_module_close(m);
        return status;
    }
    *out = m;
    return 0;
}

void plm_module_close(struct plm_module *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->slot_count; i++)
        free(m->slots[i]);
    free(m->slots);
    free(m->codes);
    free(m);
}

static bool code_runs_on(const struct code *code, int major, int minor)
{
    int sm = major * 10 + minor;
    if (code->exact)
        return code->sm == sm;
    if (code->portable)
        return code->sm <= sm;
    return code->sm / 10 == major && code->sm % 10 <= minor;
}

bool plm_module_runs_on(const struct plm_module *module, const struct plm_card *card)
{
    if (!module->code_count) /* no entry said what it is for: give it the benefit of the doubt */
        return true;
    for (unsigned i = 0; i < module->code_count; i++)
        if (code_runs_on(&module->codes[i], card->major, card->minor))
            return true;
    return false;
}

/* Machine code is preferred to intermediate code, the nearest to the card first. NULL: it has none for this card. */
static const struct code *best_code(const struct plm_module *module, const struct plm_card *card)
{
    const struct code *best = NULL;
    for (unsigned i = 0; i < module->code_count; i++) {
        const struct code *c = &module->codes[i];
        if (!code_runs_on(c, card->major, card->minor))
            continue;
        if (!best || (best->portable && !c->portable) || (best->portable == c->portable && c->sm > best->sm))
            best = c;
    }
    return best;
}

void plm_module_version(const struct plm_module *module, const struct plm_card *card, int *code, int *binary)
{
    const struct code *best = best_code(module, card);
    int sm = card->major * 10 + card->minor;
    *code = best ? best->sm : sm;
    *binary = best && !best->portable ? best->sm : sm;
}

uint64_t plm_module_code(const struct plm_module *module, const struct plm_card *card, bool *guessed)
{
    const struct code *best = best_code(module, card);
    *guessed = best && best->portable;
    return best ? best->bytes : 0;
}

uint64_t plm_module_kernel_code(struct plm_module *module, const struct plm_card *card, bool *guessed)
{
    uint64_t bytes = plm_module_code(module, card, guessed);
    return bytes / (module->expected ? module->expected : 1);
}

void plm_module_expect(struct plm_module *module, unsigned kernels, bool registered)
{
    module->expected = kernels;
    module->registered = registered;
}

bool plm_module_registered(const struct plm_module *module)
{
    return module->registered;
}

/* ---- kernels ---- */

/* One lock for all modules: a kernel is looked up by its name once. */
static struct plm_lock kernels_lock = PLM_LOCK_INIT(PLM_LOCK_MODULES);
PLM_LOCK_JOINS(kernels_lock)

static size_t hash_name(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325ull; /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3ull;
    return (size_t)(hash ^ hash >> 32);
}

/* The slot that holds `name`, or the empty one where it belongs. */
static struct plm_kernel **find_slot(struct plm_kernel **slots, size_t count, const char *name)
{
    size_t i = hash_name(name) & (count - 1);
    while (slots[i] && strcmp(slots[i]->name, name) != 0)
        i = (i + 1) & (count - 1);
    return &slots[i];
}

static int grow(struct plm_module *m)
{
    size_t count = m->slot_count ? 2 * m->slot_count : SLOTS_FIRST;
    struct plm_kernel **slots = calloc(count, sizeof(*slots));
    if (!slots)
        return PLM_MODULE_NOMEM;
    for (size_t i = 0; i < m->slot_count; i++)
        if (m->slots[i])
            *find_slot(slots, count, m->slots[i]->name) = m->slots[i];
    free(m->slots);
    m->slots = slots;
    m->slot_count = count;
    return 0;
}

static int new_kernel(struct plm_module *m, const char *name, struct plm_kernel **out)
{
    size_t length = strlen(name) + 1;
    struct plm_kernel *kernel = calloc(1, sizeof *kernel + length);
    char *copy;
    if (!kernel)
        return PLM_MODULE_NOMEM;
    copy = (char *)(kernel + 1);
    memcpy(copy, name, length);
    kernel->name = copy;
    kernel->module = m;
    kernel->preferred_carveout = -1;
    kernel->form = plm_arguments_form(copy);
    *out = kernel;
    return 0;
}

int plm_module_kernel(struct plm_module *m, const char *name, struct plm_kernel **out)
{
    struct plm_kernel **slot;
    int status = 0;

    if (!m || !name || !out)
        return PLM_MODULE_INVALID;
    plm_lock_take(&kernels_lock);
    if (4 * (m->kernel_count + 1) > 3 * m->slot_count)
        status = grow(m);
    if (status == 0) {
        slot = find_slot(m->slots, m->slot_count, name);
        if (!*slot) {
            status = new_kernel(m, name, slot);
            m->kernel_count += status == 0;
        }
        *out = *slot;
    }
    plm_lock_give(&kernels_lock);
    return status;
}
