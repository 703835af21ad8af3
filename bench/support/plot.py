# SPDX-License-Identifier: Apache-2.0
"""Drawings by gnuplot, all of one look."""
import subprocess

COLOURS = ["#2f6f9f", "#d1782b", "#4f8f4f", "#9f4f7f", "#777777"]


def rows(points):
    """A data block of gnuplot."""
    return "\n".join(" ".join(f'"{v}"' if isinstance(v, str) else repr(v) for v in p) for p in points)


def draw(path, size, script, **blocks):
    """Run a script of gnuplot; blocks: NAME = list of rows, which the script reads as $NAME."""
    data = "".join(f"${name} << EOD\n{rows(points)}\nEOD\n" for name, points in blocks.items())
    head = f'set terminal svg size {size[0]},{size[1]} font "sans-serif,12" background "white"\nset output "{path}"\n'
    head += 'set grid lc rgb "#dddddd"\nset style fill solid 0.85 noborder\n'
    head += "".join(f'set linetype {k + 1} lc rgb "{c}" lw 2 pt 7 ps 0.5\n' for k, c in enumerate(COLOURS))
    subprocess.run(["gnuplot"], input=data + head + script, text=True, check=True)
