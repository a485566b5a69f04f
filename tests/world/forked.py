"""forked.py RANKS SCRIPT [ARGS]: runs a script as so many ranks, forked after one import of torch, as the environment of torchrun
would tell them. Ends with 1 if any of them does not end with 0.

torchrun imports torch once a rank; this costs it once. Rank 0 serves the store, as without torchrun."""
import os
import runpy
import socket
import sys
import traceback

import torch
import torch.distributed
import torch.distributed.device_mesh


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def run(rank, ranks, port, script, arguments):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(ranks),
                      MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    sys.argv = [script, *arguments]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main():
    ranks, script, arguments = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    port, children = free_port(), []
    for rank in range(ranks):
        child = os.fork()
        if not child:
            status = run(rank, ranks, port, script, arguments)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
        children.append(child)
    sys.exit(int(any([os.waitpid(child, 0)[1] for child in children])))


main()
