"""Point to point, collective and pickled messages with mpi4py."""

from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
size = world.Get_size()

texts = world.allgather({"rank": rank, "text": "x" * rank})
assert [x["rank"] for x in texts] == list(range(size))
assert [len(x["text"]) for x in texts] == list(range(size))
assert world.allreduce(rank) == size * (size - 1) // 2
token = world.sendrecv(rank, dest=(rank + 1) % size,
                       source=(rank - 1) % size)
assert token == (rank - 1) % size
data = bytearray(100000) if rank else bytearray(b"\x07" * 100000)
world.Bcast(data, root=0)
assert data == b"\x07" * 100000
world.Barrier()
if rank == 0:
    print(f"mpi4py: {size} processes agree", flush=True)
