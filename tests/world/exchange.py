"""Every kind of small message between the ranks of one job, and what each rank reads afterwards. Prints a line for each that is not
what it must be, and "told N" with the number of those that are. `exchange.py objects`: pickled objects instead."""
import os
import sys
import time

import torch
import torch.distributed as dist

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", **({"device_id": torch.device("cuda", rank)} if "eager" in sys.argv else {}))
told = 0


def check(name, got, want):
    global told
    told += got == want
    if got != want:
        print(f"rank {rank}: {name} is {got}, not {want}", flush=True)


def on_card(values, dtype=torch.long):
    return torch.tensor(values, dtype=dtype).cuda()


def empty(*size):
    return torch.empty(size, dtype=torch.long, device="cuda")


def values():
    t = on_card([rank * 10 + 1, 7])
    dist.broadcast(t, 1)
    check("broadcast", t.tolist(), [11, 7])
    for op, want in (("SUM", world * (world + 1) // 2), ("MAX", world), ("MIN", 1)):
        t = on_card([rank + 1])
        dist.all_reduce(t, op=getattr(dist.ReduceOp, op))
        check(op, t.item(), want)
    t = on_card([float(rank), 1.0], torch.bfloat16)
    dist.all_reduce(t, op=dist.ReduceOp.AVG)
    check("mean", t.tolist(), [(world - 1) / 2, 1.0])
    t, parts = on_card([rank, rank * rank]), [empty(2) for _ in range(world)]
    dist.all_gather(parts, t)
    check("all_gather", [part.tolist() for part in parts], [[i, i * i] for i in range(world)])
    t, whole = on_card([rank]), empty(world)
    dist.all_gather_into_tensor(whole, t)
    check("all_gather_into_tensor", whole.tolist(), list(range(world)))
    t, whole = torch.cat([torch.rand(6, device="cuda"), on_card([rank + 2.5], torch.float)]), torch.empty(7 * world, device="cuda")
    dist.all_gather_into_tensor(whole, t)  # as SyncBatchNorm does: statistics that nobody knows, and how many there are
    counts = whole.view(world, 7)[:, -1:]
    check("the end of it", (counts.flatten().tolist(), len(torch.ones(world, device="cuda")[counts.squeeze(-1) >= 1])), ([i + 2.5 for i in range(world)], world))
    t, part = on_card(list(range(world))), empty(1)
    dist.reduce_scatter_tensor(part, t)
    check("reduce_scatter", part.tolist(), [rank * world])
    t, whole = on_card([rank * 100 + i for i in range(world)]), empty(world)
    dist.all_to_all_single(whole, t)
    check("all_to_all", whole.tolist(), [i * 100 + rank for i in range(world)])
    t, parts = on_card([rank, 5]), [empty(2) for _ in range(world)] if rank == 0 else None
    dist.gather(t, parts, dst=0)
    check("gather", rank == 0 and [part.tolist() for part in parts], rank == 0 and [[i, 5] for i in range(world)])
    part, parts = empty(1), [on_card([i * 3]) for i in range(world)] if rank == 0 else None
    dist.scatter(part, parts, src=0)
    check("scatter", part.tolist(), [rank * 3])
    t = on_card([rank])
    dist.reduce(t, 0)
    check("reduce", rank == 0 and t.item(), rank == 0 and world * (world - 1) // 2)
    dist.all_reduce(torch.ones(1 << 16, dtype=torch.long, device="cuda"))  # too large to be told
    t, part = on_card([rank]), empty(1)
    ring = [dist.P2POp(dist.isend, t, (rank + 1) % world), dist.P2POp(dist.irecv, part, (rank - 1) % world)]
    for work in dist.batch_isend_irecv(ring):
        work.wait()
    check("send and receive", part.item(), (rank - 1) % world)
    group = dist.new_group([0, world - 1])
    if rank in (0, world - 1):
        t = on_card([rank + 5])
        dist.all_reduce(t, group=group)
        check("group", t.item(), 10 + world - 1)


def barrier():
    """Rank 0 makes a file a little later than the others come there."""
    path = sys.argv[-1]
    if rank == 0:
        time.sleep(1)
        with open(path, "w"):
            pass
    dist.barrier()
    check("barrier", os.path.exists(path), True)


def some_objects(of):
    return [{"rank": of, "text": "y" * of * 5}, [1] * of, None]


def objects():
    given = [list(range(40000))] if rank == 0 else [None]  # 110 kB
    dist.broadcast_object_list(given, src=0)
    check("broadcast_object_list of a large object", given == [list(range(40000))], True)
    given = some_objects(1) if rank == 1 else [None] * 3
    dist.broadcast_object_list(given, src=1)
    check("broadcast_object_list", given, some_objects(1))
    given = [None] * world
    dist.all_gather_object(given, "a" * (10 * rank + 3))
    check("all_gather_object", given, ["a" * (10 * i + 3) for i in range(world)])
    given = [None] * world if rank == 0 else None
    dist.gather_object("b" * (20 * rank + 3), given, dst=0)
    check("gather_object", given, ["b" * (20 * i + 3) for i in range(world)] if rank == 0 else None)
    given = [None]
    dist.scatter_object_list(given, ["c" * (30 * i + 1) for i in range(world)] if rank == 0 else None, src=0)
    check("scatter_object_list", given, ["c" * (30 * rank + 1)])
    given = [None] * 3
    if rank == 0:
        dist.send_object_list(some_objects(3), 1)
    if rank == 1:
        dist.recv_object_list(given, 0)
        check("recv_object_list", given, some_objects(3))


def too_large():
    given = [bytes(3 << 20)] if rank == 0 else [None]
    try:
        dist.broadcast_object_list(given, src=0)
    except Exception:  # zeros are no pickle
        told_large = True
    else:
        told_large = rank == 0
    check("an object that is too large", told_large, True)


if "objects" in sys.argv:
    objects()
elif "large" in sys.argv:
    too_large()
else:
    values()
    barrier()
sys.stdout.write(f"told {told}\n")  # in one piece
sys.stdout.flush()
dist.destroy_process_group()
