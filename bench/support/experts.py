# SPDX-License-Identifier: Apache-2.0
"""Layers of a mixture of experts whose kernels read the weights from a slab by slot, and a trace of chosen experts."""
import numpy
import torch
import triton
import triton.language as tl

EXPERTS, CHOSEN = 128, 8  # of a layer
HITS, MISSES, ALL = (1, 0), (1, 1), (0, 0)  # which experts: a mask of `missed`, and its value


@triton.jit
def gate_up(slab, slot, missed, x, h, mask, value, pairs_of_token, H: tl.constexpr, I: tl.constexpr, ROWS: tl.constexpr,
            COLS: tl.constexpr):
    """h = silu(gate @ x) * (up @ x): ROWS of the I numbers of one pair of a token and an expert."""
    pair = tl.program_id(0)
    at = tl.load(slot + pair).to(tl.int64)
    if at >= 0:
        if (tl.load(missed + pair).to(tl.int32) & mask) == value:
            rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
            gate = tl.zeros([ROWS, COLS], tl.float32)
            up = tl.zeros([ROWS, COLS], tl.float32)
            for first in range(0, H, COLS):
                cols = first + tl.arange(0, COLS)
                numbers = tl.load(x + (pair // pairs_of_token) * H + cols).to(tl.float32)
                w = slab + at * 3 * I * H + rows[:, None] * H + cols[None, :]
                gate += tl.load(w).to(tl.float32) * numbers[None, :]
                up += tl.load(w + I * H).to(tl.float32) * numbers[None, :]
            gated = tl.sum(gate, axis=1)
            tl.store(h + pair * I + rows, gated * tl.sigmoid(gated) * tl.sum(up, axis=1))


@triton.jit
def down(slab, slot, missed, h, y, mask, value, H: tl.constexpr, I: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    """y = h @ down: COLS of the H numbers of one pair."""
    pair = tl.program_id(0)
    at = tl.load(slot + pair).to(tl.int64)
    if at >= 0:
        if (tl.load(missed + pair).to(tl.int32) & mask) == value:
            cols = tl.program_id(1) * COLS + tl.arange(0, COLS)
            total = tl.zeros([ROWS, COLS], tl.float32)
            for first in range(0, I, ROWS):
                rows = first + tl.arange(0, ROWS)
                numbers = tl.load(h + pair * I + rows)
                w = tl.load(slab + (at * 3 + 2) * I * H + rows[:, None] * H + cols[None, :])
                total += w.to(tl.float32) * numbers[:, None]
            tl.store(y + pair * H + cols, tl.sum(total, axis=0))


@triton.jit
def combine(x, y, share, PAIRS: tl.constexpr, H: tl.constexpr):
    """x = x + the experts' outputs by their shares, scaled to a mean square of 1."""
    token = tl.program_id(0)
    cols = tl.arange(0, H)
    total = tl.load(x + token * H + cols).to(tl.float32)
    for k in range(PAIRS):
        pair = token * PAIRS + k
        total += tl.load(share + pair) * tl.load(y + pair * H + cols)
    total = total / tl.sqrt(tl.sum(total * total, axis=0) / H + 1e-6)
    tl.store(x + token * H + cols, total.to(tl.bfloat16))


class Layers:
    """The tokens of a step and the kernels of a layer. hidden is a power of two, inner a multiple of 32."""

    def __init__(self, device, tokens, inner, hidden):
        self.inner, self.hidden, self.tokens, self.pairs = inner, hidden, tokens, tokens * CHOSEN
        self.x = torch.zeros(tokens, hidden, dtype=torch.bfloat16, device=device)
        self.h = torch.zeros(self.pairs, inner, device=device)
        self.y = torch.zeros(self.pairs, hidden, device=device)

    def experts(self, slab, slot, missed, which):
        """The outputs of HITS, MISSES or ALL; slot and missed are those of each pair."""
        gate_up[(self.pairs, self.inner // 8)](slab, slot, missed, self.x, self.h, *which, CHOSEN, self.hidden, self.inner, 8,
                                               min(512, self.hidden))
        down[(self.pairs, self.hidden // 32)](slab, slot, missed, self.h, self.y, *which, self.hidden, self.inner,
                                              128 if self.inner % 128 == 0 else 32, 32)

    def combine(self, share):
        combine[(self.tokens,)](self.x, self.y, share, CHOSEN, self.hidden)


def plain_layer(x, w, share):
    """The same by PyTorch's own operators in float32; w: the weights of each pair."""
    w, rows = w.float(), x.float().repeat_interleave(CHOSEN, 0)
    gate, up = torch.einsum("pih,ph->pi", w[:, 0], rows), torch.einsum("pih,ph->pi", w[:, 1], rows)
    y = torch.einsum("pi,pih->ph", torch.nn.functional.silu(gate) * up, w[:, 2])
    total = x.float() + (y * share.reshape(-1, 1)).reshape(len(x), CHOSEN, -1).sum(1)
    return (total / (total.square().mean(1, keepdim=True) + 1e-6).sqrt()).bfloat16()


def draw_trace(random, tokens):
    """Experts of each token, with the reuse of published traces: 45 % at the next token, 80 % within eight."""
    trace = numpy.tile(random.permutation(EXPERTS)[:CHOSEN], (tokens, 1))
    for t in range(1, tokens):
        last, lately, kind = trace[t - 1], trace[max(0, t - 8):t], random.random(CHOSEN)
        again = random.permutation(last)[:numpy.count_nonzero(kind < 0.45)]
        within = random.permutation(numpy.setdiff1d(lately, last))[:numpy.count_nonzero((kind >= 0.45) & (kind < 0.80))]
        new = random.permutation(numpy.setdiff1d(numpy.arange(EXPERTS), lately))[:CHOSEN - len(again) - len(within)]
        trace[t] = numpy.concatenate([again, within, new])
    return trace


def reuse(trace):
    """The shares of a trace's experts that were chosen at the token before, and at one of the eight before."""
    steps = range(min(8, len(trace) // 2), len(trace))
    before = [numpy.mean([numpy.isin(trace[t], trace[t - n:t]).mean() for t in steps]) for n in (1, 8)]
    return {"next": float(before[0]), "within_8": float(before[1])}
