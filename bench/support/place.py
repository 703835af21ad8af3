# SPDX-License-Identifier: Apache-2.0
"""Where the scripts that use PyTorch run: on a GPU, or for a trial on cpu, where streams and graphs are nothing."""
import contextlib
import os
import sys
import time

from support import report

if "cpu" in sys.argv:  # --machine cpu: Triton's kernels run in its interpreter
    os.environ["TRITON_INTERPRET"] = "1"

try:
    import torch
except ImportError as missing:
    print(f"{missing}; install PyTorch", file=sys.stderr)
    sys.exit(report.SKIP)


class Called:
    """What stands for a CUDA graph on cpu: a call."""

    def __init__(self, call):
        self.replay = call


class Place:
    def __init__(self, machine):
        self.machine, self.cuda = machine, machine.startswith("cuda")
        if self.cuda and not torch.cuda.is_available():
            print("PyTorch sees no GPU; --machine cpu is for a trial", file=sys.stderr)
            sys.exit(report.SKIP)
        self.device = torch.device("cuda", torch.cuda.current_device()) if self.cuda else torch.device("cpu")
        self.name = torch.cuda.get_device_name() if self.cuda else "cpu"

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def pinned(self, *shape, dtype):
        return torch.zeros(*shape, dtype=dtype, pin_memory=self.cuda)

    def stream(self):
        return torch.cuda.Stream() if self.cuda else None

    def on(self, stream):
        return torch.cuda.stream(stream) if self.cuda else contextlib.nullcontext()

    def follow(self, stream):
        """What is given to that stream from now on comes after all that the current one has been given."""
        if self.cuda:
            stream.wait_stream(torch.cuda.current_stream())

    def join(self, stream):
        """What the current stream is given from now on comes after all that that stream has been given."""
        if self.cuda:
            torch.cuda.current_stream().wait_stream(stream)

    def graph(self, call):
        """A graph of what the call launches; call it once before, so that everything is loaded and compiled."""
        if not self.cuda:
            return Called(call)
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):  # torch.cuda.graph() collects garbage each time, which is slow for many graphs
            graph.capture_begin()
            call()
            graph.capture_end()
        torch.cuda.synchronize()
        return graph

    def seconds(self, call, runs=1):
        """Of a call, the median; by the clock of the host, with all that the device does."""
        took = []
        for _ in range(runs):
            self.wait()
            began = time.perf_counter()
            call()
            self.wait()
            took.append(time.perf_counter() - began)
        return sorted(took)[len(took) // 2]

    def free_bytes(self):
        return torch.cuda.mem_get_info()[0] if self.cuda else 1 << 30
