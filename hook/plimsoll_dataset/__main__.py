"""What `plimsoll dataset` runs in the user's interpreter: the rows of a table, one forked process for each (workloads/rows.py).

    python plimsoll_dataset --workloads FOLDER --rows FILE

FILE has the columns of docs/dataset.md that say what a network is, `family`, `steps` (samples of each step, blanks between) and
`description` (a file that gets the network's description).
"""
import gc
import sys
from pathlib import Path


def main():
    gc.disable()  # an import makes no garbage
    folder, path = sys.argv[sys.argv.index("--workloads") + 1], sys.argv[sys.argv.index("--rows") + 1]
    # This folder would hide modules of the workloads by modules of the same name.
    sys.path[0:1] = [str(Path(__file__).resolve().parent.parent), folder]
    from plimsoll_dataset import training

    import rows
    training.prepare()
    # What is there stays there: a process that is forked looks through its own objects only.
    gc.collect()
    gc.freeze()
    rows.serve(path, training.run)


if __name__ == "__main__":
    main()
