"""Process groups: the NCCL shim has no peers to ask who is in a new group, and some versions of PyTorch do not tell
it. The ranks are left in the environment while a group is made."""

import os


def name_groups(module):
    """Called when torch.distributed.distributed_c10d has been imported."""
    original = getattr(module, "_new_process_group_helper", None)
    if original is None:
        return

    def make_group(size, rank, ranks, *args, **kwargs):
        try:
            os.environ["PLIMSOLL_GROUP"] = ",".join(str(int(member)) for member in ranks or ())
        except (TypeError, ValueError):
            pass
        try:
            return original(size, rank, ranks, *args, **kwargs)
        finally:
            os.environ.pop("PLIMSOLL_GROUP", None)

    module._new_process_group_helper = make_group
