#include "snippet.h"

SNIPPET(nvshmem_selected_device_transport)
{
    CHECK(*(int *)snippet_symbol("nvshmem_selected_device_transport") == 0);
}

SNIPPET(nvshmem_my_pe)
{
    CHECK(CALL(int, nvshmem_my_pe, (void), ()) == -1);
}

SNIPPET(nvshmem_n_pes)
{
    CHECK(CALL(int, nvshmem_n_pes, (void), ()) == 0);
}

SNIPPET(nvshmem_team_my_pe)
{
    CHECK(CALL(int, nvshmem_team_my_pe, (int), (0)) == -1);
}

SNIPPET(nvshmem_team_n_pes)
{
    CHECK(CALL(int, nvshmem_team_n_pes, (int), (0)) == -1);
}

SNIPPET(nvshmem_team_translate_pe)
{
    CHECK(CALL(int, nvshmem_team_translate_pe, (int, int, int), (0, 0, 0)) == -1);
}

SNIPPET(nvshmem_info_get_name)
{
    char name[256] = "";
    CALL(void, nvshmem_info_get_name, (char *), (name));
    CHECK(name[0]);
}

SNIPPET(nvshmem_malloc)
{
    CHECK(!CALL(void *, nvshmem_malloc, (size_t), (1024)));
}

SNIPPET(nvshmem_calloc)
{
    CHECK(!CALL(void *, nvshmem_calloc, (size_t, size_t), (2, 1024)));
}

SNIPPET(nvshmem_align)
{
    CHECK(!CALL(void *, nvshmem_align, (size_t, size_t), (256, 1024)));
}

SNIPPET(nvshmem_ptr)
{
    int here = 0;
    CHECK(!CALL(void *, nvshmem_ptr, (const void *, int), (&here, 0)));
}

SNIPPET(nvshmemx_mc_ptr)
{
    int here = 0;
    CHECK(!CALL(void *, nvshmemx_mc_ptr, (int, const void *), (0, &here)));
}

SNIPPET(nvshmemx_buffer_register_symmetric)
{
    int here = 0;
    CHECK(!CALL(void *, nvshmemx_buffer_register_symmetric, (void *, size_t, int), (&here, sizeof here, 0)));
}

SNIPPET(nvshmemid_init_status)
{
    CHECK(CALL(int, nvshmemid_init_status, (void), ()) == 0);
}
