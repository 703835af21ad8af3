# SPDX-License-Identifier: Apache-2.0
"""Search by faiss on all cores of the processor, where it is installed: what else host memory could be searched by."""
import importlib.util
import math
import time

import numpy

NARROWEST = 0.95  # recall
PIECE = 1 << 18
EFFORTS = [1 << k for k in range(13)]


def missing():
    """Why it cannot be compared; None: it can."""
    return None if importlib.util.find_spec("faiss") else "faiss is not installed (pip install faiss-cpu)"


def floats(vectors):
    return vectors.float().cpu().numpy()


def lists(faiss, vectors, exact):
    """Vectors as they are in lists by the nearest of some centres; effort: lists that a query reads."""
    width, count = vectors.shape[1], max(16, min(len(vectors) // 39, int(4 * math.sqrt(len(vectors)))))
    centres = faiss.IndexFlatL2(width)
    index = faiss.IndexIVFScalarQuantizer(centres, width, count, exact, faiss.METRIC_L2, False)
    index.train(floats(vectors[:64 * count]))
    return index, lambda effort: setattr(index, "nprobe", min(effort, count))


def graph(faiss, vectors, exact):
    """A graph of several levels over vectors as they are; effort: candidates that a query keeps."""
    index = faiss.IndexHNSWSQ(vectors.shape[1], exact, 16)
    index.hnsw.efConstruction = 80
    index.train(floats(vectors[:1024]))
    return index, lambda effort: setattr(index.hnsw, "efSearch", max(10, effort))


def narrowest(index, set_effort, sample, true):
    """The least effort whose recall suffices, or the greatest that was tried, and the recall."""
    for effort in EFFORTS:
        set_effort(effort)
        found = index.search(sample, 10)[1]
        recall = float((found[:, :, None] == true[:, None, :]).any(1).mean())
        if recall >= NARROWEST:
            break
    return effort, recall


def compare(vectors, batch, true, say):
    """
    By two kinds of faiss's indices: seconds of the batch, at the least effort whose recall of the 10 nearest is 0.95.
    @vectors  of host memory, uint8 or float16; @batch, @true  queries, and the numbers of the nearest of the first of them
    """
    import faiss

    exact = faiss.ScalarQuantizer.QT_8bit_direct if vectors.element_size() == 1 else faiss.ScalarQuantizer.QT_fp16
    queries, true = numpy.ascontiguousarray(floats(batch)), true.cpu().numpy()
    result = {"vectors": len(vectors), "threads": faiss.omp_get_max_threads(), "version": faiss.__version__}
    for name, make in [("lists", lists), ("graph", graph)]:
        began = time.perf_counter()
        index, set_effort = make(faiss, vectors, exact)
        for first in range(0, len(vectors), PIECE):
            index.add(floats(vectors[first:first + PIECE]))
        built = time.perf_counter() - began
        effort, recall = narrowest(index, set_effort, queries[:len(true)], true)
        began = time.perf_counter()
        index.search(queries, 10)
        took = time.perf_counter() - began
        result[name] = {"build_seconds": built, "effort": effort, "recall": recall, "seconds": took}
        say(f"faiss, {name:5} of {len(vectors)} vectors {1e3 * took:9.2f} ms for {len(queries)} queries on {result['threads']} threads, "
            f"recall {recall:.4f}; built in {built:.0f} s")
        del index
    return result
