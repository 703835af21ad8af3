# SPDX-License-Identifier: Apache-2.0
"""The first page of the Python package, on a system where it has just been installed: how long importing it takes, the program of its
README and the cells of the tutorial."""

import json
import pathlib
import re
import subprocess
import sys

import grapnel

SOURCE = pathlib.Path(__file__).parents[2]
TIME = "import time; t = time.perf_counter(); import grapnel; print((time.perf_counter() - t) * 1e3)"


def import_time():
    """Said, not judged: the machine may be busy."""
    times = [float(subprocess.run([sys.executable, "-P", "-c", TIME], capture_output=True, text=True, check=True).stdout)
             for _ in range(5)]
    print(f"import grapnel: {min(times):.0f} ms of the 100 that it may take, in Python {sys.version.split()[0]}")


def run(name, program):
    print(f"{name}:", flush=True)
    exec(compile(program, name, "exec"), {"__name__": "__main__"})


def main():
    if SOURCE in pathlib.Path(grapnel.__file__).parents:
        raise SystemExit(f"{grapnel.__file__} is not the installed package")
    import_time()
    programs = re.findall(r"```python\n(.*?)```", (SOURCE / "python/README.md").read_text(), re.S)
    cells = json.loads((SOURCE / "python/docs/tutorial.ipynb").read_text())["cells"]
    tutorial = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    if not programs or "gather" not in tutorial:
        raise SystemExit("the README or the tutorial has no program: the search for them is broken")
    for program in programs:
        run("README.md", program)
    run("tutorial.ipynb", tutorial)
    print(f"grapnel {grapnel.__version__}: the README and the tutorial run")


if __name__ == "__main__":
    main()
