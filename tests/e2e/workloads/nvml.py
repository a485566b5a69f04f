"""Asks NVML about the GPUs, before and after PyTorch takes some memory."""
import pynvml
import torch

pynvml.nvmlInit()
print(f"driver {pynvml.nvmlSystemGetDriverVersion()}")
handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
for index, handle in enumerate(handles):
    memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    print(f"{index} {pynvml.nvmlDeviceGetName(handle)} total {memory.total} used {memory.used}")

block = torch.empty(2**30, dtype=torch.uint8, device="cuda:0")
memory = pynvml.nvmlDeviceGetMemoryInfo(handles[0])
free, total = torch.cuda.mem_get_info(0)
print(f"after 1 GiB: used {memory.used}, runtime says {total - free} of {total}")
print(f"utilization {pynvml.nvmlDeviceGetUtilizationRates(handles[0]).gpu} %")
pynvml.nvmlShutdown()
