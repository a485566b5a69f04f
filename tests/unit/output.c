#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "base/temporary.h"
#include "unit.h"

static const struct plm_output_rule plain = {0}, force = {.force = true}, record = {.record = true};

static int write_text(FILE *out, const void *what, struct plm_error *error)
{
    (void)error;
    return fputs(what, out) < 0 ? PLM_EIO : 0;
}

static int write_half(FILE *out, const void *what, struct plm_error *error)
{
    fputs(what, out);
    fflush(out);
    return plm_fail(error, PLM_EFORMAT, "only half of it");
}

static int put(const char *path, const struct plm_output_rule *rule, const char *text, struct plm_error *error)
{
    return plm_output_write(path, rule, write_text, text, error);
}

static void assert_holds(const char *path, const char *text)
{
    char *now = unit_read(path, NULL);
    assert_string_equal(now, text);
    free(now);
}

static mode_t mode_of(const char *path)
{
    struct stat there;
    assert_int_equal(lstat(path, &there), 0);
    return there.st_mode;
}

/* Temporary files in the folder. */
static size_t left_over(void)
{
    glob_t found;
    size_t count;
    glob(unit_path("*.tmp"), 0, NULL, &found);
    count = found.gl_pathc;
    globfree(&found);
    return count;
}

static void not_without_force(void **state)
{
    const char *path = unit_path("exists");
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_output_check(path, &plain, &error), 0);
    assert_int_equal(put(path, &plain, "first", &error), 0);
    assert_int_equal(put(path, &plain, "second", &error), PLM_EIO);
    assert_contains(error.text, "exists; use -f to replace it");
    assert_int_equal(plm_output_check(path, &plain, &error), PLM_EIO);
    assert_holds(path, "first");
    assert_int_equal(put(path, &force, "second", &error), 0);
    assert_holds(path, "second");
    assert_int_equal(left_over(), 0);
}

static void never_what_is_read(void **state)
{
    const char *path = unit_path("input"), *name = unit_path("other-name");
    char same[4096];
    struct plm_output_rule rule = {.force = true, .input = {[2] = same}};
    struct plm_error error;
    (void)state;
    snprintf(same, sizeof same, "%s", path);
    unit_write(path, "precious", 8);
    assert_int_equal(put(path, &rule, "x", &error), PLM_EINVAL);
    assert_contains(error.text, "this command already uses it for something else");
    assert_int_equal(link(path, name), 0);
    assert_int_equal(put(name, &rule, "x", &error), PLM_EINVAL);
    assert_contains(error.text, "this command already uses it for something else");
    assert_holds(path, "precious");
    rule = (struct plm_output_rule){.force = true, .words = (char *[]){"python", (char *)name, NULL}};
    assert_int_equal(put(path, &rule, "x", &error), PLM_EINVAL);
    assert_holds(path, "precious");
    rule.input[2] = "/dev/null"; /* nothing is lost there */
    assert_int_equal(put("/dev/null", &rule, "x", &error), 0);
}

/* Also before there is a file, whichever way its folder is called. */
static void one_name_for_one_output(void **state)
{
    char folder[4096], other[8192];
    struct plm_output_rule rule = {.force = true, .input = {"-", other}};
    const char *path = unit_path("twice");
    struct plm_error error;
    (void)state;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    snprintf(other, sizeof other, "%s/./twice", folder);
    assert_int_equal(plm_output_check(path, &rule, &error), PLM_EINVAL);
    assert_contains(error.text, "this command already uses it for something else");
    assert_int_equal(plm_output_check((char[]){"-"}, &rule, &error), PLM_EINVAL);
    assert_contains(error.text, "this command already uses it for something else");
    assert_int_equal(plm_output_check(other, &rule, &error), 0); /* itself */
    snprintf(other, sizeof other, "%s/thrice", folder);
    assert_int_equal(plm_output_check(path, &rule, &error), 0);
}

static void what_cannot_be_made(void **state)
{
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_output_check("", &record, &error), PLM_EINVAL);
    assert_int_equal(plm_output_check(unit_path("no-folder/it"), &plain, &error), PLM_EIO);
    assert_contains(error.text, "No such file or directory");
}

static void settings_are_spared(void **state)
{
    const char *path = unit_path("settings.ini");
    struct plm_error error;
    (void)state;
    unit_write(path, "[run]\n", 6);
    assert_int_equal(plm_output_check(path, &force, &error), 0);
    plm_output_spare(path);
    assert_int_equal(put(path, &force, "x", &error), PLM_EINVAL);
    assert_contains(error.text, "has settings for this command");
    assert_holds(path, "[run]\n");
}

/* The old file stays until the new one is whole. */
static void half_is_none(void **state)
{
    const char *path = unit_path("half");
    struct plm_output output;
    struct plm_error error;
    (void)state;
    assert_int_equal(plm_output_write(path, &plain, write_half, "new", &error), PLM_EFORMAT);
    assert_int_equal(access(path, F_OK), -1);
    unit_write(path, "old", 3);
    assert_int_equal(plm_output_write(path, &force, write_half, "new", &error), PLM_EFORMAT);
    assert_holds(path, "old");
    assert_int_equal(plm_output_open(&output, path, &force, &error), 0);
    fputs("new", plm_output_stream(&output));
    assert_holds(path, "old");
    assert_int_equal(left_over(), 1);
    plm_output_drop(&output);
    plm_output_drop(&output); /* nothing is left to do */
    assert_holds(path, "old");
    assert_int_equal(left_over(), 0);
}

static void full_disk(void **state)
{
    const struct rlimit little = {100, RLIM_INFINITY}, much = {RLIM_INFINITY, RLIM_INFINITY};
    const char *path = unit_path("full");
    struct plm_error error;
    char text[1000];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    unit_write(path, "old", 3);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    assert_int_equal(put(path, &force, text, &error), PLM_EIO);
    setrlimit(RLIMIT_FSIZE, &much);
    signal(SIGXFSZ, SIG_DFL);
    assert_contains(error.text, "File too large");
    assert_holds(path, "old");
    assert_int_equal(left_over(), 0);
    assert_int_equal(put("/dev/full", &plain, text, &error), PLM_EIO);
    assert_contains(error.text, "No space left");
    assert_true(S_ISCHR(mode_of("/dev/full")));
}

/* A disk that was full in between: the bytes that did not come down are missed, though all later ones did. */
static void full_for_a_moment(void **state)
{
    const struct rlimit little = {100, RLIM_INFINITY}, much = {RLIM_INFINITY, RLIM_INFINITY};
    const char *path = unit_path("moment");
    struct plm_output output;
    struct plm_error error = {0};
    (void)state;
    assert_int_equal(plm_output_open(&output, path, &plain, &error), 0);
    setvbuf(plm_output_stream(&output), NULL, _IONBF, 0);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    for (int i = 0; i < 200; i++)
        fputc('x', plm_output_stream(&output));
    setrlimit(RLIMIT_FSIZE, &much);
    signal(SIGXFSZ, SIG_DFL);
    fputs("the end", plm_output_stream(&output));
    assert_int_equal(plm_output_keep(&output, &error), PLM_EIO);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(left_over(), 0);
}

static void streams_stay(void **state)
{
    const char *path = unit_path("pipe");
    struct plm_error error;
    char text[8] = "";
    int reader;
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(put(path, &force, "text", &error), 0);
    assert_int_equal(read(reader, text, sizeof text), 4);
    assert_string_equal(text, "text");
    close(reader);
    assert_true(S_ISFIFO(mode_of(path)));
    assert_int_equal(put("/dev/null", &force, "text", &error), 0);
    assert_true(S_ISCHR(mode_of("/dev/null")));
    assert_int_equal(plm_output_check(path, &record, &error), PLM_EIO);
    assert_contains(error.text, "a record must be a file");
    assert_int_equal(put(unit_folder(), &force, "text", &error), PLM_EIO);
    assert_contains(error.text, "it is a folder");
}

static void links_stay(void **state)
{
    const char *path = unit_path("link"), *target = unit_path("target");
    struct plm_error error;
    (void)state;
    assert_int_equal(symlink("target", path), 0);
    assert_int_equal(put(path, &force, "new", &error), PLM_EIO);
    assert_contains(error.text, "a dangling link");
    unit_write(target, "old", 3);
    assert_int_equal(put(path, &plain, "new", &error), PLM_EIO);
    assert_int_equal(put(path, &force, "new", &error), 0);
    assert_true(S_ISLNK(mode_of(path)));
    assert_holds(target, "new");
}

static void modes(void **state)
{
    const char *path = unit_path("mode"), *secret = unit_path("mode.plm");
    const mode_t mask = umask(027);
    struct plm_output output;
    struct plm_error error;
    (void)state;
    assert_int_equal(put(path, &plain, "x", &error), 0);
    assert_int_equal(mode_of(path) & 0777, 0640);
    chmod(path, 0664);
    assert_int_equal(put(path, &force, "x", &error), 0);
    assert_int_equal(mode_of(path) & 0777, 0664);
    assert_int_equal(plm_output_open(&output, secret, &record, &error), 0);
    assert_int_equal(mode_of(output.temporary) & 0777, 0600);
    assert_int_equal(plm_output_keep(&output, &error), 0);
    assert_int_equal(mode_of(secret) & 0777, 0600);
    umask(mask);
}

/* Two writers of one name: the first to end has it. A record is not lost by that. */
static void taken_meanwhile(void **state)
{
    const char *path = unit_path("taken");
    struct plm_output one, two;
    struct plm_error error;
    char *temporary;
    (void)state;
    assert_int_equal(plm_output_open(&one, path, &plain, &error), 0);
    assert_int_equal(plm_output_open(&two, path, &record, &error), 0);
    fputs("one", plm_output_stream(&one));
    fputs("two", plm_output_stream(&two));
    temporary = strdup(two.temporary);
    assert_int_equal(plm_output_keep(&one, &error), 0);
    assert_int_equal(plm_output_keep(&two, &error), PLM_EIO);
    assert_contains(error.text, "the record stays in");
    assert_holds(path, "one");
    assert_holds(temporary, "two");
    unlink(temporary);
    free(temporary);
    assert_int_equal(plm_output_open(&two, path, &force, &error), 0);
    unlink(path); /* now something else stands there */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(plm_output_keep(&two, &error), PLM_EIO);
    assert_true(S_ISFIFO(mode_of(path)));
    assert_int_equal(left_over(), 0);
}

static void standard_output(void **state)
{
    const char *path = unit_path("stdout");
    const int old = dup(STDOUT_FILENO), file = open(path, O_RDWR | O_CREAT | O_APPEND, 0600);
    struct plm_error error;
    int status[3];
    (void)state;
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    fputs("a", stdout);
    status[0] = put("-", &plain, "b", &error);
    status[1] = put("/dev/stdout", &plain, "c", &error);
    status[2] = put(path, &plain, "d", &error);
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    close(file);
    for (int i = 0; i < 3; i++)
        assert_int_equal(status[i], 0);
    assert_holds(path, "abcd");
}

static void ended_by_a_signal(void **state)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    (void)state;
    for (size_t i = 0; i < COUNT(ends); i++) {
        int status;
        pid_t child;
        fflush(NULL);
        child = fork();
        if (!child) {
            struct plm_output output;
            signal(ends[i], SIG_DFL); /* nohup has it ignored, and a shell for what it starts in the background */
            plm_output_open(&output, unit_path("ended"), &plain, NULL);
            if (left_over() == 1)
                raise(ends[i]);
            _exit(1);
        }
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == ends[i]);
        assert_int_equal(left_over(), 0);
    }
}

/* Removed is what was made here. A folder of somebody else's stays, with all in it, and what is in it by any way to
   write its name; a link in one of ours goes, and not what it leads to. */
static void only_what_was_made(void **state)
{
    char made[4096], inside[4200], link[4200], stranger[4096], way[8300];
    (void)state;
    snprintf(stranger, sizeof stranger, "%s", unit_path("stranger"));
    assert_int_equal(mkdir(stranger, 0700), 0);
    snprintf(inside, sizeof inside, "%s/thesis", stranger);
    unit_write(inside, "x", 1);
    snprintf(made, sizeof made, "%s", unit_path("made-XXXXXX"));
    assert_int_equal(plm_temporary_folder(made), 0);
    snprintf(link, sizeof link, "%s/link", made);
    assert_int_equal(symlink(stranger, link), 0);
    snprintf(way, sizeof way, "%s/../stranger/thesis", made);
    plm_temporary_remove(way);
    snprintf(way, sizeof way, "%s/thesis", link);
    plm_temporary_remove(way);
    plm_temporary_remove(inside);
    plm_temporary_remove(stranger);
    assert_holds(inside, "x");
    snprintf(way, sizeof way, "%s/own", made);
    unit_write(way, "x", 1);
    plm_temporary_remove(way);
    assert_int_equal(access(way, F_OK), -1);
    unit_write(way, "x", 1);
    plm_temporary_remove(made);
    assert_int_equal(access(made, F_OK), -1);
    assert_holds(inside, "x");
    /* Once it is gone, its name is anybody's. */
    assert_int_equal(mkdir(made, 0700), 0);
    unit_write(way, "x", 1);
    plm_temporary_remove(made);
    plm_temporary_remove(way);
    assert_holds(way, "x");
}

/* A job may put a file of its own in the place of one that was made here. */
static void another_in_its_place(void **state)
{
    char made[4096], other[4096];
    (void)state;
    snprintf(made, sizeof made, "%s", unit_path("made-XXXXXX"));
    snprintf(other, sizeof other, "%s", unit_path("thesis"));
    close(plm_temporary_file(made, 0));
    unit_write(other, "x", 1);
    assert_int_equal(rename(other, made), 0);
    plm_temporary_remove(made);
    assert_holds(made, "x");
    assert_int_equal(unlink(made), 0);
}

static void places_that_cannot_be(void **state)
{
    struct plm_error error;
    char name[300];
    (void)state;
    assert_int_equal(put(unit_path("no/where"), &plain, "x", &error), PLM_EIO);
    assert_contains(error.text, "No such file");
    memset(name, 'n', 250);
    name[250] = '\0';
    assert_int_equal(put(unit_path(name), &plain, "x", &error), 0); /* the temporary name is shorter */
    assert_holds(unit_path(name), "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_without_force),
        cmocka_unit_test(never_what_is_read),
        cmocka_unit_test(one_name_for_one_output),
        cmocka_unit_test(what_cannot_be_made),
        cmocka_unit_test(settings_are_spared),
        cmocka_unit_test(half_is_none),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(full_for_a_moment),
        cmocka_unit_test(streams_stay),
        cmocka_unit_test(links_stay),
        cmocka_unit_test(modes),
        cmocka_unit_test(taken_meanwhile),
        cmocka_unit_test(standard_output),
        cmocka_unit_test(ended_by_a_signal),
        cmocka_unit_test(places_that_cannot_be),
        cmocka_unit_test(only_what_was_made),
        cmocka_unit_test(another_in_its_place),
    };
    return RUN(tests);
}
