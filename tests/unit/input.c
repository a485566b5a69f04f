#include "common/input.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/error.h"
#include "unit.h"

static struct plm_error error;

static void file(void **state)
{
    uint64_t size = 0;
    char text[4] = "";
    int fd;
    (void)state;
    unit_write(unit_path("file"), "abc", 3);
    fd = plm_input_open(unit_path("file"), &size, &error);
    assert_true(fd >= 0);
    assert_int_equal(size, 3);
    assert_int_equal(read(fd, text, 3), 3);
    assert_string_equal(text, "abc");
    close(fd);
    assert_int_equal(symlink("file", unit_path("link")), 0);
    fd = plm_input_open(unit_path("link"), NULL, NULL);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(plm_input_open(unit_path("absent"), &size, &error), PLM_ENOTFOUND);
    assert_contains(error.text, "absent: No such file or directory");
    assert_int_equal(plm_input_open(unit_path("file/x"), &size, &error), PLM_EREAD);
}

/* None of them is waited for. */
static void others(void **state)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)state;
    alarm(20);
    assert_int_equal(mkfifo(unit_path("pipe"), 0600), 0);
    assert_int_equal(plm_input_open(unit_path("pipe"), NULL, &error), PLM_EFORMAT);
    assert_contains(error.text, "pipe is a pipe, not a file; save its data to a file");
    assert_int_equal(chdir(unit_folder()), 0); /* the name of a socket is short */
    memcpy(name.sun_path, "socket", 7);
    assert_int_equal(bind(listening, (const void *)&name, sizeof name), 0);
    assert_int_equal(plm_input_open("socket", NULL, &error), PLM_EFORMAT);
    assert_contains(error.text, "socket is a socket, not a file");
    assert_int_equal(plm_input_open(unit_folder(), NULL, &error), PLM_EFORMAT);
    assert_contains(error.text, "is a folder, not a file");
    assert_int_equal(plm_input_open("/dev/zero", NULL, &error), PLM_EFORMAT);
    assert_contains(error.text, "/dev/zero is a device, not a file");
    close(listening);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(file), cmocka_unit_test(others)};
    return RUN(tests);
}
