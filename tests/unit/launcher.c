/* Lines of launchers, by the options that torchrun --help, srun(1), mpirun(1), mpiexec(1) and ray job submit --help document; and ranks. */
#include "world/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "unit.h"

#define LINE(...) ((char *const[]){__VA_ARGS__, NULL})

/* What a rank runs, as one text; and what the line says of the world: "world nodes per_node". */
static void line_is(char *const *command, const char *numbers, const char *words)
{
    struct plm_launcher_line line;
    struct plm_error error;
    const struct plm_world_rank one = {.world = 8, .nodes = 2, .per_node = 4, .number = 6};
    char text[512] = "", told[64];
    if (plm_launcher_read(command, &line, &error))
        fail_msg("%s", error.text);
    snprintf(told, sizeof told, "%u %u %u", line.world, line.nodes, line.per_node);
    assert_string_equal(told, numbers);
    for (char *const *word = plm_launcher_words(&line, &one); word && *word; word++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", text[0] ? " " : "", *word);
    assert_string_equal(text, words);
    plm_launcher_line_free(&line);
}

static void name_is(char *const *command, const char *name)
{
    struct plm_launcher_line line;
    assert_int_equal(plm_launcher_read(command, &line, NULL), 0);
    assert_string_equal(line.name, name);
    plm_launcher_line_free(&line);
}

static void line_fails(char *const *command, const char *sentence)
{
    struct plm_launcher_line line;
    struct plm_error error;
    assert_int_equal(plm_launcher_read(command, &line, &error), PLM_EINVAL);
    assert_string_equal(error.text, sentence);
    assert_null(line.words);
}

static void torchrun(void **state)
{
    (void)state;
    line_is(LINE("/nowhere/torchrun", "--nnodes=2", "--nproc_per_node", "4", "train.py", "--nnodes", "9"), "8 2 4",
            "python -u train.py --nnodes 9");
    line_is(LINE("/nowhere/torchrun", "--standalone", "--nproc", "8", "-m", "pkg.train", "-x"), "8 0 8",
            "python -u -m pkg.train -x"); /* argparse takes what is clear */
    line_is(
        LINE("/nowhere/torchrun", "--nnodes", "1:4", "--nproc-per-node=gpu", "--rdzv-endpoint", "host:29400", "t.py"),
        "0 4 0", "python -u t.py");
    line_is(LINE("/nowhere/torchrun", "--no-python", "--nproc-per-node=2", "-r3", "./run", "a"), "2 0 2", "./run a");
    line_is(LINE("python3", "-W", "ignore", "-m", "torch.distributed.run", "--nproc-per-node", "8", "t.py"), "8 0 8",
            "python3 -W ignore -u t.py");
    line_is(LINE("python", "-m", "torch.distributed.launch", "--nproc-per-node=4", "t.py", "--a"), "4 0 4",
            "python -u t.py --local-rank=2 --a");
    line_is(LINE("python", "-m", "torch.distributed.launch", "--use_env", "--nproc-per-node=4", "t.py"), "4 0 4",
            "python -u t.py");
    line_fails(LINE("torchrun", "--surprise", "t.py"),
               "the option '--surprise' of torchrun is not supported; leave the "
               "launcher out and use --world");
    line_fails(LINE("torchrun", "--nproc-per-node", "0", "t.py"),
               "'0' in the launcher's nproc-per-node is not a number of ranks or nodes");
    line_fails(LINE("torchrun", "--nproc-per-node=8"), "the line of torchrun has no command after its options");
    line_fails(LINE("torchrun", "--nnodes"), "the launcher's option --nnodes needs a value");
    line_fails(LINE("torchrun", "--master-port=x", "t.py"), "'x' on the launcher's line is not a port");
}

#define RAY_FILE "unit-launcher-ray.yaml"
static char *ray_file(const char *text)
{
    FILE *file = fopen(RAY_FILE, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return RAY_FILE;
}

static void env(void **state)
{
    (void)state;
    line_is(LINE("env", "-C", "src", "A=1", "/nowhere/torchrun", "--nproc-per-node=2", "t.py"), "2 0 2",
            "env -C src A=1 python -u t.py");
    line_is(LINE("/usr/bin/env", "-i", "--chdir=src", "-uB", "--unset", "C", "--", "python", "-m",
                 "torch.distributed.launch", "--nproc-per-node=4", "t.py"),
            "4 0 4", "/usr/bin/env -i --chdir=src -uB --unset C -- python -u t.py --local-rank=2");
    line_is(LINE("mpirun", "-np", "2", "-x", "A=1", "--wdir", "src", "env", "B=2", "/nowhere/torchrun", "--nnodes=2",
                 "--nproc-per-node=8", "t.py"),
            "16 2 8", "env -C src A=1 env B=2 python -u t.py");
    line_is(LINE("env", "-S", "torchrun t.py"), "0 0 0", ""); /* not looked into: the command stays as it is */
    line_is(LINE("env", "A=1", "python", "t.py"), "0 0 0", "");
    line_is(LINE("env", "A=1"), "0 0 0", "");
    line_fails(LINE("env", "A=1", "torchrun", "--nnodes=2"), "the line of torchrun has no command after its options");
}

static void ray(void **state)
{
    (void)state;
    line_is(LINE("ray", "job", "submit", "--address", "http://head:8265", "--working-dir", "src", "--no-wait", "--",
                 "python", "t.py", "-v"),
            "0 0 0", "env -C src python t.py -v");
    line_is(LINE("/opt/bin/ray", "job", "submit", "--working-dir=s3://b/a.zip", "--entrypoint-num-gpus", "1",
                 "torchrun", "--nproc-per-node=4", "--no-python", "./t"),
            "4 0 4", "./t");
    line_is(LINE("ray", "job", "submit", "--runtime-env-json",
                 "{\"env_vars\": {\"A\": \"1\", \"B\": \"x y\"}, \"pip\": [\"torch\"], \"working_dir\": \"src\"}", "--",
                 "./t"),
            "0 0 0", "env -C src A=1 B=x y ./t");
    line_is(LINE("ray", "job", "submit", "--runtime-env",
                 ray_file("# ours\npip:\n  - torch: no\nenv_vars:\n  A: \"1\"\n\n  "
                          "B: two # more\n  'C': '#3'\nworking_dir: s3://b/a.zip\n"),
                 "torchrun", "--nproc-per-node=4", "--no-python", "./t"),
            "4 0 4", "env A=1 B=two C=#3 ./t");
    line_is(LINE("ray", "job", "submit", "--runtime-env",
                 ray_file("env_vars:\n  A: 1\npip:\n  packages: no\nconda:\n  B: no\n"), "./t"),
            "0 0 0", "env A=1 ./t"); /* the variables end with the next word at the margin */
    line_is(LINE("ray", "job", "submit", "--runtime-env",
                 ray_file("env_vars:\n  A: 1 \t \nworking_dir: src  # here\n  B: no\n"), "./t"),
            "0 0 0", "env -C src A=1 ./t");
    line_is(LINE("ray", "job", "submit", "--runtime-env", ray_file(" {\"env_vars\": {}}"), "./t"), "0 0 0", "./t");
    line_fails(LINE("ray", "job", "submit", "--runtime-env", ray_file("env_vars: {A: 1}\n"), "./t"),
               RAY_FILE ": env_vars on one line are not supported; write one per line");
    line_fails(LINE("ray", "job", "submit", "--runtime-env-json", "{\"env_vars\": {\"A\": 1}}", "./t"),
               "the runtime environment's variable 'A' is not a string");
    remove(RAY_FILE);
    line_is(LINE("ray", "start", "--head"), "0 0 0", ""); /* no launcher of a job: the command stays as it is */
    line_fails(LINE("ray", "job", "submit", "--no-wait"), "the line of ray has no command after its options");
    line_fails(LINE("ray", "job", "submit", "--surprise", "t.py"),
               "the option '--surprise' of ray is not supported; leave the launcher out and use --world");
}

static void slurm(void **state)
{
    (void)state;
    line_is(LINE("srun", "-N2", "--ntasks-per-node=8", "--gres=gpu:8", "-p", "gpu", "-lu", "python", "t.py"), "16 2 8",
            "python t.py");
    line_is(LINE("srun", "-n", "64", "--cpus-per-task", "4", "--mpi=pmix", "--exclusive", "python", "-n"), "64 0 0",
            "python -n");
    line_is(LINE("srun", "--gpus-per-node=a100:4", "-w", "n[01-04,7],big", "./t"), "24 6 4", "./t");
    /* One torchrun on each node: what it says of a node counts, and how many nodes there are is srun's. */
    line_is(LINE("srun", "-N", "4", "--ntasks-per-node=1", "python", "-m", "torch.distributed.run",
                 "--nproc-per-node=8", "t.py"),
            "32 4 8", "python -u t.py");
    name_is(LINE("srun", "-N", "4", "/bin/torchrun", "t.py"), "torchrun");
    name_is(LINE("srun", "env", "python", "-m", "torch.distributed.run", "t.py"), "torch.distributed.run");
    name_is(LINE("/opt/bin/srun", "-N", "4", "t.py"), "srun");
    line_fails(LINE("srun", "-N", "65536", "--ntasks-per-node=65536", "t"), /* none, if that had 32 bits */
               "the launcher's line asks for more than 1048576 ranks");
    line_fails(LINE("srun", "-w", "a[3-", "t"), "the list of nodes 'a[3-' cannot be read");
    line_fails(LINE("srun", "--frobnicate", "t"),
               "the option '--frobnicate' of srun is not supported; leave the launcher out and use --world");
}

static void mpi(void **state)
{
    static const char bare[] = "n1 # slots=8\nn2:3\nn3\n";
    char path[512], hosts[2048] = "# two nodes\nn1 slots=8\n\nn2 slots=4\n", told[1024];
    (void)state;
    snprintf(path, sizeof path, "%s", unit_path("hosts"));
    snprintf(told, sizeof told, "the list of nodes '%s' cannot be read: it must name 1 to 1048576 slots", path);
    unit_write(path, hosts, strlen(hosts));
    line_is(
        LINE("mpirun", "-np", "16", "-H", "a:8,b:8", "-x", "A=1", "-x", "PATH", "--mca", "btl", "tcp", "python", "t"),
        "16 2 0", "env A=1 python t");
    line_is(LINE("mpirun", "--hostfile", path, "--bind-to", "none", "./t"), "12 2 0", "./t");
    unit_write(path, bare, sizeof bare - 1); /* a node without a number has one slot */
    line_is(LINE("mpirun", "--hostfile", path, "./t"), "5 3 0", "./t");
    line_is(LINE("mpirun", "-H", "a,b:2,c", "./t"), "4 3 0", "./t");
    line_is(LINE("mpiexec", "-n", "8", "-ppn", "4", "-genv", "A", "b", "./t"), "8 0 4", "./t");
    line_fails(LINE("mpirun", "-np", "2", "a", ":", "-np", "2", "b"),
               "several programs in one job (':' of mpirun) are not supported");
    line_fails(LINE("mpirun", "-H", "a:4294967295,b:9", "t"), /* 8, if their sum had 32 bits */
               "the list of nodes 'a:4294967295,b:9' cannot be read");
    line_fails(LINE("mpirun", "-H", "a:-1", "t"), "the list of nodes 'a:-1' cannot be read");
    snprintf(hosts, sizeof hosts, "n1 slots=8 # %1500d\nn2 slots=4294967288\n", 1);
    unit_write(path, hosts, strlen(hosts));
    line_fails(LINE("mpirun", "--hostfile", path, "t"), told);
    strcpy(strstr(hosts, "4294967288"), "4");
    unit_write(path, hosts, strlen(hosts));
    line_is(LINE("mpirun", "--hostfile", path, "t"), "12 2 0", "t"); /* the comment is no third node */
    line_fails(LINE("mpirun", "--hostfile", "/nowhere", "a"),
               "the list of nodes '/nowhere' cannot be read: No such file or directory");
}

/* Numbers up to the largest world there is, 2^20, and ports up to 65535 (RFC 793: 16 bits). */
static void numbers_at_their_limits(void **state)
{
    struct plm_launcher_line line;
    (void)state;
    line_is(LINE("srun", "-n", "1048576", "t"), "1048576 0 0", "t");
    line_fails(LINE("srun", "-n", "1048577", "t"), "'1048577' in the launcher's n is not a number of ranks or nodes");
    line_fails(LINE("srun", "-n", "4x", "t"), "'4x' in the launcher's n is not a number of ranks or nodes");
    line_fails(LINE("srun", "-n", "-4", "t"), "'-4' in the launcher's n is not a number of ranks or nodes");
    line_fails(LINE("srun", "-n", "", "t"), "'' in the launcher's n is not a number of ranks or nodes");
    line_is(LINE("srun", "-N", "131072", "--ntasks-per-node=8", "t"), "1048576 131072 8", "t");
    line_fails(LINE("srun", "-N", "131073", "--ntasks-per-node=8", "t"),
               "the launcher's line asks for more than 1048576 ranks");
    line_is(LINE("srun", "-N", "2-3", "--ntasks-per-node=8", "t"), "24 3 8", "t");
    line_is(LINE("srun", "--ntasks-per-node=8", "t"), "0 0 8", "t"); /* on how many nodes is not told */
    line_is(LINE("/nowhere/torchrun", "--nproc-per-node=cpu", "t"), "0 0 0", "python -u t");
    line_is(LINE("/nowhere/torchrun", "--nproc-per-node=auto", "t"), "0 0 0", "python -u t");
    line_is(LINE("srun", "--gpus-per-node=4", "-N1", "t"), "4 1 4", "t");
    line_is(LINE("mpirun", "-H", "a:1048576", "t"), "1048576 1 0", "t");
    line_is(LINE("mpirun", "-H", "a:1048575,b", "t"), "1048576 2 0", "t");
    line_fails(LINE("mpirun", "-H", "a:1048576,b", "t"), "the list of nodes 'a:1048576,b' cannot be read");
    line_fails(LINE("mpirun", "-H", "a:0", "t"), "the list of nodes 'a:0' cannot be read");
    assert_int_equal(plm_launcher_read(LINE("torchrun", "--master-port=65535", "t"), &line, NULL), 0);
    assert_int_equal(line.port, 65535);
    assert_int_equal(line.launcher, PLM_LAUNCHER_TORCHRUN);
    plm_launcher_line_free(&line);
    assert_int_equal(plm_launcher_read(LINE("srun", "torchrun", "--master-port", "1234", "t"), &line, NULL), 0);
    assert_int_equal(line.port, 1234);
    plm_launcher_line_free(&line);
    line_fails(LINE("torchrun", "--master-port=65536", "t"), "'65536' on the launcher's line is not a port");
    line_fails(LINE("torchrun", "--master-port=-1", "t"), "'-1' on the launcher's line is not a port");
    line_fails(LINE("torchrun", "--master-port=1x", "t"), "'1x' on the launcher's line is not a port");
}

/* Long options may be cut short where they are clear (argparse, getopt_long), of mpirun not; a letter has its value
   behind it. */
static void forms_of_options(void **state)
{
    (void)state;
    line_is(LINE("/nowhere/torchrun", "--nno=2", "--nproc-per=4", "t"), "8 2 4", "python -u t");
    line_fails(LINE("torchrun", "--no", "t"), /* --node-rank or --no-python */
               "the option '--no' of torchrun is not supported; leave the launcher out and use --world");
    line_fails(LINE("torchrun", "--n", "t"),
               "the option '--n' of torchrun is not supported; leave the launcher out and use --world");
    line_is(LINE("srun", "-n=4", "-K", "-k", "-I", "t"), "4 0 0", "t");
    line_is(LINE("srun", "-n4", "-K1", "--exclusive=user", "--nice=3", "t"), "4 0 0", "t");
    line_is(LINE("srun", "--ntasks=4", "--job-name", "a", "-J", "b", "-c2", "--label", "t"), "4 0 0", "t");
    line_fails(LINE("srun", "--ntasks_per_node=4", "t"),
               "the option '--ntasks_per_node=4' of srun is not supported; leave the launcher out and use --world");
    line_fails(LINE("srun", "--job-name"), "the launcher's option --job-name needs a value");
    line_fails(LINE("srun", "-Y", "t"),
               "the option '-Y' of srun is not supported; leave the launcher out and use --world");
    line_is(LINE("mpirun", "-np=4", "--npernode=2", "t"), "4 0 2", "t");
    line_is(LINE("orterun", "--np", "4", "-q", "--prefix", "/opt", "t"), "4 0 0", "t");
    line_is(LINE("mpiexec.hydra", "-n", "4", "-genvall", "t"), "4 0 0", "t");
    line_fails(LINE("mpirun", "--npern", "4", "t"),
               "the option '--npern' of mpirun is not supported; leave the launcher out and use --world");
    line_fails(LINE("mpirun", "--mca", "btl"), "the launcher's option --mca needs a value");
    line_fails(LINE("mpirun", "--mca"), "the launcher's option --mca needs a value");
    line_is(LINE("mpirun", "-np", "2", "--", "-t"), "2 0 0", "-t");
    line_is(LINE("mpirun", "-np", "2", "-"), "2 0 0", "-"); /* a dash alone is no option */
    line_is(LINE("srun", "-n2", "t", ":", "u"), "2 0 0", "t : u"); /* a colon is mpirun's */
    line_is(LINE("run", "t"), "0 0 0", ""); /* a part of a name is not the name */
}

/* Python's own words stay before the script; --local-rank comes behind it. */
static void words_of_python(void **state)
{
    (void)state;
    line_is(LINE("/usr/bin/python3.11", "-X", "dev", "-u", "-m", "torch.distributed.run", "--nproc-per-node=2", "t"),
            "2 0 2", "/usr/bin/python3.11 -X dev -u -u t");
    line_is(LINE("python", "-m", "torch.distributed.launch", "--nproc-per-node=2", "-m", "pkg", "a"), "2 0 2",
            "python -u -m pkg --local-rank=2 a");
    line_is(LINE("python", "-m", "torch.distributed.launch", "--no-python", "--nproc-per-node=2", "./t", "a"), "2 0 2",
            "./t --local-rank=2 a");
    line_is(LINE("python", "-m", "torch.distributed.elastic", "t"), "0 0 0", "");
    line_is(LINE("python", "-m"), "0 0 0", "");
    line_is(LINE("python", "-W"), "0 0 0", "");
    line_is(LINE("python"), "0 0 0", "");
    line_is(LINE("pythonish", "-m", "torch.distributed.run", "t"), "0 0 0", "");
    line_is(LINE("pytho", "-m", "torch.distributed.run", "t"), "0 0 0", "");
}

static void program_make(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unit_write(path, "#!/bin/sh\n", 10);
    assert_int_equal(chmod(path, 0700), 0);
}

/* torchrun runs the Python of its own environment: the one beside it. */
static void python_beside_torchrun(void **state)
{
    char both[256], alone[256], path[1024], run[300], words[300], *before = strdup(getenv("PATH"));
    (void)state;
    snprintf(both, sizeof both, "%s", unit_path("both"));
    snprintf(alone, sizeof alone, "%s", unit_path("alone"));
    assert_int_equal(mkdir(both, 0700) | mkdir(alone, 0700), 0);
    program_make(both, "torchrun");
    program_make(both, "python");
    program_make(alone, "torchrun");
    snprintf(run, sizeof run, "%s/torchrun", both);
    snprintf(words, sizeof words, "%s/python -u t", both);
    line_is(LINE(run, "t"), "0 0 0", words);
    snprintf(path, sizeof path, "/nowhere:%s:%s", both, alone);
    setenv("PATH", path, 1);
    line_is(LINE("torchrun", "t"), "0 0 0", words);
    snprintf(path, sizeof path, "/nowhere:%s:%s", alone, both); /* the first one counts, and has no Python beside it */
    setenv("PATH", path, 1);
    line_is(LINE("torchrun", "t"), "0 0 0", "python -u t");
    snprintf(run, sizeof run, "%s/torchrun", alone);
    line_is(LINE(run, "t"), "0 0 0", "python -u t");
    setenv("PATH", "/nowhere", 1);
    line_is(LINE("torchrun", "t"), "0 0 0", "python -u t");
    setenv("PATH", before, 1);
    free(before);
}

/* Options of env(1) as its manual page has them. */
static void options_of_env(void **state)
{
    (void)state;
    line_is(LINE("env", "-", "srun", "-n4", "t"), "4 0 0", "env - t");
    line_is(LINE("env", "--ignore-environment", "--chdir", "src", "srun", "-n4", "t"), "4 0 0",
            "env --ignore-environment --chdir src t");
    line_is(LINE("env", "--unset=A", "-Csrc", "B=1", "C=2", "srun", "-n4", "t"), "4 0 0",
            "env --unset=A -Csrc B=1 C=2 t");
    line_is(LINE("env", "--chdirs", "srun", "-n4", "t"), "0 0 0", ""); /* no such option: it is left alone */
    line_is(LINE("env", "-u"), "0 0 0", "");
    line_is(LINE("env", "--", "srun", "-n4", "t"), "4 0 0", "env -- t");
    line_is(LINE("environment", "srun", "-n4", "t"), "0 0 0", "");
}

/* Lines of YAML as Ray's documentation has them; what is within something else is no variable. */
static void files_of_ray(void **state)
{
    static const struct {
        const char *text, *words;
    } files[] = {
        {"---\nenv_vars:\n\tA: 1\n", "env A=1 ./t"},
        {"env_vars:\n  A:\n  no colon\n  B: a:b\n", "env A= B=a:b ./t"},
        {"env_vars: {}\nworking_dir: \"a b\"\n", "env -C a b ./t"},
        {"env_vars:\r\n  A: 'x # y' # z\r\n", "env A=x # y ./t"},
        {"env_vars:\n  A: x#y\n  B: # nothing\n", "env A=x#y B= ./t"},
        {"env_vars:\n  # A: 1\n  B: 2", "env B=2 ./t"},
        {"working_dir: a\nworking_dir: b\n", "env -C b ./t"},
        {"'working_dir': a\n", "env -C a ./t"},
        {" \n\t{\"working_dir\": \"a\", \"other\": {\"working_dir\": \"b\"}}", "env -C a ./t"},
        {"", "./t"},
    };
    char *large;
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++)
        line_is(LINE("ray", "job", "submit", "--runtime-env", ray_file(files[i].text), "./t"), "0 0 0", files[i].words);
    line_fails(LINE("ray", "job", "submit", "--runtime-env-json", "{\"env_vars\": [1]}", "./t"),
               "the runtime environment's env_vars are not names with values");
    line_fails(LINE("ray", "job", "submit", "--runtime-env-json", "{\"working_dir\": 1}", "./t"),
               "the runtime environment's working_dir is not a path");
    for (int i = 0; i < 2; i++) { /* what is behind the end, and a file without end */
        struct plm_launcher_line line;
        struct plm_error error;
        assert_int_equal(plm_launcher_read(LINE("ray", "job", "submit", "--runtime-env-json",
                                                i ? "{\"a\": 1} 2" : "{\"a\": 1", "./t"),
                                           &line, &error),
                         PLM_EINVAL);
    }
    large = test_calloc(1, (1 << 20) + 2);
    memset(large, '#', (1 << 20) + 1);
    line_fails(LINE("ray", "job", "submit", "--runtime-env", ray_file(large), "./t"),
               "the runtime environment '" RAY_FILE "' cannot be read");
    large[1 << 20] = '\0';
    line_is(LINE("ray", "job", "submit", "--runtime-env", ray_file(large), "./t"), "0 0 0", "./t");
    test_free(large);
    remove(RAY_FILE);
}

static void others_are_left_alone(void **state)
{
    (void)state;
    line_is(LINE("python", "train.py", "-m", "torch.distributed.run"), "0 0 0", "");
    line_is(LINE("accelerate", "launch", "--num_processes", "4", "t.py"), "0 0 0", "");
    line_is(LINE("bash", "run.sh"), "0 0 0", "");
}

static void node_lists(void **state)
{
    static const char *const bad[] = {"",
                                      ",",
                                      "a,",
                                      "a[",
                                      "a[1",
                                      "a[]",
                                      "a[2-1]",
                                      "a[1-2",
                                      "a]",
                                      "a[x]",
                                      "a[1-9999999999]",
                                      "a[0-4294967295]"}; /* 2^32 of them */
    unsigned count;
    (void)state;
    assert_int_equal(plm_launcher_nodes("a", &count, NULL), 0);
    assert_int_equal(count, 1);
    assert_int_equal(plm_launcher_nodes("a[0-3]-ib,b[1,5-6]", &count, NULL), 0);
    assert_int_equal(count, 7);
    assert_int_equal(plm_launcher_nodes("a[5-5],b", &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_int_equal(plm_launcher_nodes("a[0-1048575]", &count, NULL), 0); /* as many as there can be */
    assert_int_equal(count, 1 << 20);
    assert_int_equal(plm_launcher_nodes("a[0-1048576]", &count, NULL), PLM_EINVAL);
    assert_int_equal(plm_launcher_nodes("a[0-1048575],b", &count, NULL), PLM_EINVAL);
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(plm_launcher_nodes(bad[i], &count, NULL), PLM_EINVAL);
}

/* ---- ranks ---- */

static void rank_is(unsigned world, unsigned nodes, unsigned per_node, const char *rank, const char *expected)
{
    struct plm_world_rank one;
    struct plm_error error;
    char text[512];
    if (plm_world_rank_make(&one, world, nodes, per_node, &error) || plm_world_rank_choose(&one, rank, &error))
        snprintf(text, sizeof text, "%s", error.text);
    else
        snprintf(text, sizeof text, "%u x %u, rank %u: %u of node %u", one.nodes, one.per_node, one.number,
                 plm_world_rank_local(&one), plm_world_rank_node(&one));
    assert_string_equal(text, expected);
}

static void ranks(void **state)
{
    (void)state;
    rank_is(1 << 20, 0, 0, "last", "131072 x 8, rank 1048575: 7 of node 131071");
    rank_is((1 << 20) + 1, 0, 0, "0", "a job has 1 to 1048576 ranks");
    rank_is(64, 1, 0, "63", "1 x 64, rank 63: 63 of node 0");
    rank_is(4, 0, 0, "first", "1 x 4, rank 0: 0 of node 0");
    rank_is(1024, 0, 0, "last", "128 x 8, rank 1023: 7 of node 127");
    rank_is(7, 0, 0, "last", "1 x 7, rank 6: 6 of node 0"); /* one smaller node */
    rank_is(8, 0, 0, "last", "1 x 8, rank 7: 7 of node 0");
    rank_is(16, 2, 8, "8", "2 x 8, rank 8: 0 of node 1");
    rank_is(8, 0, 0, "", "--rank is a number, first or last, not ''");
    rank_is(8, 0, 0, "3x", "--rank is a number, first or last, not '3x'");
    rank_is(8, 0, 0, "99999999999999999999", "--rank is a number, first or last, not '99999999999999999999'");
    rank_is(65, 1, 0, "0", "a node has at most 64 GPUs, not 65; use more nodes with --nodes");
    rank_is(12, 3, 0, "5", "3 x 4, rank 5: 1 of node 1");
    rank_is(12, 0, 6, "6", "2 x 6, rank 6: 0 of node 1");
    rank_is(12, 0, 0, "0",
            "12 ranks cannot be spread evenly over nodes of 8 GPUs; choose another number with --gpus-per-node");
    rank_is(8, 3, 0, "0", "8 ranks cannot be spread evenly over 3 nodes");
    rank_is(8, 2, 8, "0", "2 nodes of 8 GPUs do not make 8 ranks");
    rank_is(8, 2, 2, "0", "2 nodes of 2 GPUs do not make 8 ranks");
    rank_is(8, 0, 0, "8", "there is no rank 8: the ranks of a job of 8 are 0 to 7");
    rank_is(8, 0, 0, "-1", "--rank is a number, first or last, not '-1'");
    rank_is(0, 0, 0, "0", "a job has 1 to 1048576 ranks");
    rank_is(128, 1, 0, "0", "a node has at most 64 GPUs, not 128; use more nodes with --nodes");
}

static const char *variable(char **environment, const char *name)
{
    const size_t length = strlen(name);
    for (; *environment; environment++)
        if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

/* As torchrun's documentation ("Environment Variables") and srun(1) ("OUTPUT ENVIRONMENT VARIABLES") describe them. */
static void environment_of_a_rank(void **state)
{
    const struct plm_world_rank one = {.world = 16, .nodes = 4, .per_node = 4, .number = 9};
    char **e = plm_world_rank_environment(&one, PLM_LAUNCHER_TORCHRUN, 1234);
    (void)state;
    assert_string_equal(variable(e, "RANK"), "9");
    assert_string_equal(variable(e, "WORLD_SIZE"), "16");
    assert_string_equal(variable(e, "LOCAL_RANK"), "1");
    assert_string_equal(variable(e, "LOCAL_WORLD_SIZE"), "4");
    assert_string_equal(variable(e, "GROUP_RANK"), "2");
    assert_string_equal(variable(e, "GROUP_WORLD_SIZE"), "4");
    assert_string_equal(variable(e, "ROLE_RANK"), "9");
    assert_string_equal(variable(e, "MASTER_PORT"), "1234");
    assert_null(variable(e, "SLURM_PROCID"));
    plm_world_rank_environment_free(e);
    e = plm_world_rank_environment(&one, PLM_LAUNCHER_SRUN, 1234);
    assert_string_equal(variable(e, "SLURM_PROCID"), "9");
    assert_string_equal(variable(e, "SLURM_LOCALID"), "1");
    assert_string_equal(variable(e, "SLURM_NODEID"), "2");
    assert_string_equal(variable(e, "SLURM_NTASKS"), "16");
    assert_string_equal(variable(e, "SLURM_TASKS_PER_NODE"), "4(x4)");
    assert_string_equal(variable(e, "SLURM_JOB_NODELIST"), "plimsoll-node[0-3]");
    plm_world_rank_environment_free(e);
    e = plm_world_rank_environment(&one, PLM_LAUNCHER_MPIRUN, 1234);
    assert_string_equal(variable(e, "OMPI_COMM_WORLD_RANK"), "9");
    assert_string_equal(variable(e, "OMPI_COMM_WORLD_LOCAL_RANK"), "1");
    plm_world_rank_environment_free(e);
}

/* All of them, by launcher: rank 9 of 4 nodes with 4 GPUs each is GPU 1 of node 2. */
static void every_variable(void **state)
{
    static const char *const all[] = {"RANK=9",
                                      "WORLD_SIZE=16",
                                      "LOCAL_RANK=1",
                                      "LOCAL_WORLD_SIZE=4",
                                      "NODE_RANK=2",
                                      "GROUP_RANK=2",
                                      "GROUP_WORLD_SIZE=4",
                                      "ROLE_NAME=default",
                                      "ROLE_RANK=9",
                                      "ROLE_WORLD_SIZE=16",
                                      "MASTER_ADDR=127.0.0.1",
                                      "MASTER_PORT=1234",
                                      "TORCHELASTIC_USE_AGENT_STORE=True",
                                      "TORCHELASTIC_RUN_ID=plimsoll",
                                      "TORCHELASTIC_RESTART_COUNT=0",
                                      "TORCHELASTIC_MAX_RESTARTS=0",
                                      "PLIMSOLL_WORLD=16",
                                      "PLIMSOLL_RANK=9",
                                      "PLIMSOLL_STORE=1234",
                                      NULL},
                             *const srun[] = {"SLURM_PROCID=9",
                                              "SLURM_NTASKS=16",
                                              "SLURM_NPROCS=16",
                                              "SLURM_LOCALID=1",
                                              "SLURM_NODEID=2",
                                              "SLURM_NNODES=4",
                                              "SLURM_JOB_NUM_NODES=4",
                                              "SLURM_NTASKS_PER_NODE=4",
                                              "SLURM_TASKS_PER_NODE=4(x4)",
                                              "SLURM_STEP_NUM_TASKS=16",
                                              "SLURM_STEP_NUM_NODES=4",
                                              "SLURM_GPUS_ON_NODE=4",
                                              "SLURM_JOB_NODELIST=plimsoll-node[0-3]",
                                              "SLURM_NODELIST=plimsoll-node[0-3]",
                                              "SLURM_STEP_NODELIST=plimsoll-node[0-3]",
                                              "SLURMD_NODENAME=plimsoll-node2",
                                              "SLURM_LAUNCH_NODE_IPADDR=127.0.0.1",
                                              "SLURM_JOB_ID=1",
                                              "SLURM_JOBID=1",
                                              "SLURM_STEP_ID=0",
                                              "SLURM_JOB_NAME=plimsoll",
                                              NULL},
                             *const mpirun[] = {"OMPI_COMM_WORLD_RANK=9",
                                                "OMPI_COMM_WORLD_SIZE=16",
                                                "OMPI_COMM_WORLD_LOCAL_RANK=1",
                                                "OMPI_COMM_WORLD_LOCAL_SIZE=4",
                                                "OMPI_COMM_WORLD_NODE_RANK=1",
                                                "OMPI_UNIVERSE_SIZE=16",
                                                "PMI_RANK=9",
                                                "PMI_SIZE=16",
                                                "MPI_LOCALRANKID=1",
                                                "MPI_LOCALNRANKS=4",
                                                NULL},
                             *const none[] = {NULL};
    static const char *const *const more[] = {[PLM_LAUNCHER_NONE] = none,
                                              [PLM_LAUNCHER_TORCHRUN] = none,
                                              [PLM_LAUNCHER_SRUN] = srun,
                                              [PLM_LAUNCHER_MPIRUN] = mpirun,
                                              [PLM_LAUNCHER_RAY] = none};
    const struct plm_world_rank one = {.world = 16, .nodes = 4, .per_node = 4, .number = 9},
                                alone = {.world = 4, .nodes = 1, .per_node = 4, .number = 3};
    char **e;
    (void)state;
    for (size_t i = 0; i < COUNT(more); i++) {
        size_t at = 0;
        e = plm_world_rank_environment(&one, (enum plm_launcher)i, 1234);
        for (const char *const *expected = all; *expected; expected++)
            assert_string_equal(e[at++], *expected);
        for (const char *const *expected = more[i]; *expected; expected++)
            assert_string_equal(e[at++], *expected);
        assert_null(e[at]);
        plm_world_rank_environment_free(e);
    }
    e = plm_world_rank_environment(&alone, PLM_LAUNCHER_SRUN, 1234);
    assert_string_equal(variable(e, "SLURM_TASKS_PER_NODE"), "4");
    assert_string_equal(variable(e, "SLURM_JOB_NODELIST"), "plimsoll-node0");
    assert_string_equal(variable(e, "SLURMD_NODENAME"), "plimsoll-node0");
    plm_world_rank_environment_free(e);
    plm_world_rank_environment_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torchrun),
        cmocka_unit_test(env),
        cmocka_unit_test(ray),
        cmocka_unit_test(slurm),
        cmocka_unit_test(mpi),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(node_lists),
        cmocka_unit_test(ranks),
        cmocka_unit_test(environment_of_a_rank),
        cmocka_unit_test(numbers_at_their_limits),
        cmocka_unit_test(forms_of_options),
        cmocka_unit_test(words_of_python),
        cmocka_unit_test(python_beside_torchrun),
        cmocka_unit_test(options_of_env),
        cmocka_unit_test(files_of_ray),
        cmocka_unit_test(every_variable),
    };
    return RUN(tests);
}
