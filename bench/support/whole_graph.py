# SPDX-License-Identifier: Apache-2.0
"""The gather of NVIDIA's WholeGraph (pylibwholegraph), where it is installed, on a table in host memory of its own."""
import importlib.util
import os

import torch


def missing():
    """Why it cannot be compared; None: it can."""
    if not torch.cuda.is_available():
        return "WholeGraph needs a GPU"
    if importlib.util.find_spec("pylibwholegraph") is None:
        return "WholeGraph is not installed (pip install pylibwholegraph-cu13)"
    return None


class WholeGraph:
    """One process; begin it once."""

    def __init__(self):
        from pylibwholegraph.torch import initialize, tensor

        self.initialize, self.tensor, threads = initialize, tensor, torch.get_num_threads()
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29571")
        self.comm, _ = initialize.init_torch_env_and_create_wm_comm(0, 1, 0, 1, wm_log_level="warn")
        torch.set_num_threads(threads)  # it sets one

    def table(self, rows):
        """A copy of rows in host memory that is mapped for the GPU, as WholeGraph has it."""
        made = self.tensor.create_wholememory_tensor(self.comm, "continuous", "cpu", list(rows.shape), rows.dtype, None)
        view, _ = made.get_global_tensor(host_view=True)
        view.copy_(rows)
        return made

    def drop(self, table):
        self.tensor.destroy_wholememory_tensor(table)

    def end(self):
        self.initialize.finalize()
