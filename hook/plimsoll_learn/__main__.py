"""Trains a network for `plimsoll train`: python plimsoll_learn MATRIX WEIGHTS STATUS.

MATRIX has the rows as plain numbers (matrix.py), WEIGHTS is written in the format of docs/network.md, and the last line
of STATUS says how far it is. Runs on the CPU. The last line of standard error is the reason of a failure."""
import os
import sys

LIBRARY = 71  # PyTorch is there, a library of NVIDIA's that it is linked to is not

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def stop(reason, status=1):
    print(reason, file=sys.stderr, flush=True)
    sys.exit(status)


try:
    import torch
except ModuleNotFoundError as error:
    stop(f"it has no PyTorch ({error})")
except (ImportError, OSError, ValueError) as error:
    stop(f"its PyTorch cannot be imported ({error})", LIBRARY)

import matrix
import training


def main():
    torch.set_num_threads(1)
    try:
        data = matrix.read(sys.argv[1])
        training.train(data, sys.argv[2], sys.argv[3])
    except (OSError, MemoryError, RuntimeError) as error:
        stop(f"{type(error).__name__}: {' '.join(str(error).split())}")


if __name__ == "__main__":
    main()
