#include "snippet.h"

#include <time.h>

SNIPPET(cuptiActivityGetNextRecord)
{
    unsigned char buffer[64];
    void *record = buffer;
    CHECK(CALL(int, cuptiActivityGetNextRecord, (void *, size_t, void **), (buffer, sizeof buffer, &record)) == 12);
    CHECK(record == NULL);
}

SNIPPET(cuptiActivityGetAttribute)
{
    size_t size = sizeof(size_t), value = 0;
    CHECK(CALL(int, cuptiActivityGetAttribute, (int, size_t *, void *), (0, &size, &value)) == 0);
    CHECK(size == sizeof(size_t) && value > 0);
}

SNIPPET(cuptiActivitySetAttribute)
{
    size_t size = sizeof(size_t), value = 3 << 20, back = 0;
    uint8_t flag = 1, flag_back = 0;
    CHECK(CALL(int, cuptiActivitySetAttribute, (int, size_t *, void *), (2, &size, &value)) == 0);
    CHECK(CALL(int, cuptiActivityGetAttribute, (int, size_t *, void *), (2, &size, &back)) == 0);
    CHECK(back == value);
    size = 1;
    CHECK(CALL(int, cuptiActivitySetAttribute, (int, size_t *, void *), (9, &size, &flag)) == 0);
    CHECK(CALL(int, cuptiActivityGetAttribute, (int, size_t *, void *), (9, &size, &flag_back)) == 0);
    CHECK(flag_back == 1 && size == 1);
    size = 64;
    CHECK(CALL(int, cuptiActivitySetAttribute, (int, size_t *, void *), (2, &size, &value)) == 10);
}

SNIPPET(cuptiActivityPushExternalCorrelationId)
{
    uint64_t id = 0;
    for (uint64_t i = 1; i <= 3; i++)
        CHECK(CALL(int, cuptiActivityPushExternalCorrelationId, (int, uint64_t), (4, i)) == 0);
    for (uint64_t i = 3; i >= 1; i--) {
        CHECK(CALL(int, cuptiActivityPopExternalCorrelationId, (int, uint64_t *), (4, &id)) == 0);
        CHECK(id == i);
    }
}

SNIPPET(cuptiActivityPopExternalCorrelationId)
{
    uint64_t id = 7;
    CHECK(CALL(int, cuptiActivityPopExternalCorrelationId, (int, uint64_t *), (3, &id)) == 18);
    CHECK(id == 0);
    for (int i = 0; i < 100; i++) /* deeper than is kept */
        CHECK(CALL(int, cuptiActivityPushExternalCorrelationId, (int, uint64_t), (3, 5)) == 0);
    for (int i = 0; i < 100; i++)
        CHECK(CALL(int, cuptiActivityPopExternalCorrelationId, (int, uint64_t *), (3, &id)) == 0);
    CHECK(id == 5);
}

SNIPPET(cuptiGetVersion)
{
    uint32_t version = 0;
    CHECK(CALL(int, cuptiGetVersion, (uint32_t *), (&version)) == 0);
    CHECK(snippet_cuda() == 12 ? version >= 19 && version < 100 : version >= 130000 && version < 140000);
}

SNIPPET(cuptiGetTimestamp)
{
    uint64_t a = 0, b = 0;
    CHECK(CALL(int, cuptiGetTimestamp, (uint64_t *), (&a)) == 0);
    CHECK(CALL(int, cuptiGetTimestamp, (uint64_t *), (&b)) == 0);
    CHECK(b >= a && a / 1000000000u >= (uint64_t)time(NULL) - 10);
}

SNIPPET(cuptiDeviceGetTimestamp)
{
    uint64_t now = 0;
    CHECK(CALL(int, cuptiDeviceGetTimestamp, (void *, uint64_t *), (NULL, &now)) == 0);
    CHECK(now > 0);
}

SNIPPET(cuptiGetResultString)
{
    const char *text = NULL;
    CHECK(CALL(int, cuptiGetResultString, (int, const char **), (27, &text)) == 0);
    CHECK(text && !strcmp(text, "CUPTI_ERROR_NOT_SUPPORTED"));
    CHECK(CALL(int, cuptiGetResultString, (int, const char **), (5, &text)) == 0);
    CHECK(text != NULL);
}

SNIPPET(cuptiGetErrorMessage)
{
    const char *text = NULL;
    CHECK(CALL(int, cuptiGetErrorMessage, (int, const char **), (999, &text)) == 0);
    CHECK(text != NULL);
}

SNIPPET(cuptiGetDeviceId)
{
    uint32_t id = 99;
    CHECK(CALL(int, cuptiGetDeviceId, (void *, uint32_t *), (NULL, &id)) == 0);
    CHECK(id == 0);
}

SNIPPET(cuptiGetContextId)
{
    uint32_t id = 99;
    CHECK(CALL(int, cuptiGetContextId, (void *, uint32_t *), (NULL, &id)) == 0);
    CHECK(id == 1);
}

SNIPPET(cuptiGetStreamId)
{
    uint32_t id = UINT32_MAX;
    CHECK(CALL(int, cuptiGetStreamId, (void *, void *, uint32_t *), (NULL, NULL, &id)) == 0);
    CHECK(id != UINT32_MAX);
}

SNIPPET(cuptiGetStreamIdEx)
{
    uint32_t id = UINT32_MAX;
    CHECK(CALL(int, cuptiGetStreamIdEx, (void *, void *, uint8_t, uint32_t *), (NULL, NULL, 0, &id)) == 0);
    CHECK(id != UINT32_MAX);
}

SNIPPET(cuptiSupportedDomains)
{
    size_t count = 0;
    const int *domains = NULL;
    CHECK(CALL(int, cuptiSupportedDomains, (size_t *, const int **), (&count, &domains)) == 0);
    CHECK(count > 0 && domains && domains[0] == 1);
}

SNIPPET(cuptiGetCallbackName)
{
    const char *name = NULL;
    CHECK(CALL(int, cuptiGetCallbackName, (int, uint32_t, const char **), (2, 211, &name)) != 0);
    CHECK(name != NULL);
}
