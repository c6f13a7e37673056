#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The CUCo Desktop authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""ring_attention's kernel on one GPU against PyTorch's scaled_dot_product_attention, in bf16.

    tests/gpu/attention_speed.py [--tile] [--mma] [--shapes SEQUENCE,...] [--repeats N]

Needs nvcc and PyTorch. Outputs are compared first, also of short sequences and odd ones, which are not timed. Times are
medians by CUDA events; the per cent are of what PyTorch chooses by itself. --tile: also other numbers of the tile. --mma:
also the products of GPUs other than Hopper. Exit status 1 when an output differs or a time is under 60 %.
"""
import argparse
import contextlib
import ctypes
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = os.path.join(ROOT, "tests", "gpu", "attention_speed.cu")
# The attention wants the names of candidate.h, but nothing of NCCL itself.
NCCL_NAMES = "typedef struct ncclComm* ncclComm_t;\ntypedef enum { ncclSuccess = 0 } ncclResult_t;\n"
# Keys in a tile, warps, blocks on an SM.
DEFAULT = (64, 4, 2)
OTHERS = [(32, 4, 2), (64, 4, 3), (64, 8, 1)]
ENOUGH = 60.0
HOPPER = "90a"
BUDGET_S = 50.0


def find_nvcc():
    places = [shutil.which("nvcc")]
    places += [os.path.join(home, "bin", "nvcc") for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if home]
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    sys.exit("No nvcc was found: put the CUDA toolkit's bin folder on PATH.")


class Instance:
    """A program: the tile's numbers, and what it is compiled for."""

    def __init__(self, tile, arch, by_head=0):
        self.tile, self.arch, self.by_head = tile, arch, by_head
        self.library = None

    def __str__(self):
        name = "-".join(str(number) for number in self.tile + (self.by_head,))
        return name if self.arch == HOPPER else name + " mma"


def build(nvcc, arch, folder, tile):
    """The shared object, or the compiler's message."""
    library = os.path.join(folder, "attention_%s_%d_%d_%d.so" % ((arch,) + tile))
    target = "-gencode=arch=compute_%s,code=sm_%s" % (arch, arch)
    command = [nvcc, target, "-std=c++17", "-O3", "-shared", "-Xcompiler", "-fPIC", "-Xptxas", "-v"]
    for include in (os.path.join(ROOT, "workloads", "harness"), os.path.join(ROOT, "workloads", "ring_attention"), folder):
        command += ["-I", include]
    command += ["-DKEY_ROWS=%d" % tile[0], "-DWARPS=%d" % tile[1], "-DCTAS_PER_SM=%d" % tile[2]]
    done = subprocess.run(command + [SOURCE, "-o", library], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stdout + done.stderr
    return library, done.stderr


def load(library):
    loaded = ctypes.CDLL(library)
    loaded.attention.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int] * 6 + [ctypes.c_void_p]
    loaded.attention_error.restype = ctypes.c_char_p
    return loaded


class Shape:
    def __init__(self, sequence, heads_q, heads_kv, head_dim, causal):
        self.sequence, self.heads_q, self.heads_kv = sequence, heads_q, heads_kv
        self.head_dim, self.causal = head_dim, causal

    def flops(self):
        pairs = self.sequence * (self.sequence + 1) // 2 if self.causal else self.sequence**2
        return 4 * pairs * self.heads_q * self.head_dim

    def __str__(self):
        return "%6d %3d/%-3d %4d %-7s" % (
            self.sequence, self.heads_q, self.heads_kv, self.head_dim, "causal" if self.causal else "full")


# Tiles that are not full, masks that begin inside one, heads that share keys: sequence, heads of queries and keys,
# dimension, causal.
ODD = [Shape(*numbers) for numbers in (
    (1, 2, 1, 128, True), (3, 4, 2, 64, True), (77, 2, 2, 128, False), (129, 4, 1, 64, True), (650, 3, 3, 64, False),
    (777, 8, 1, 128, False), (1021, 6, 2, 64, True), (1531, 4, 4, 128, True))]


def shapes_of(sequences):
    for sequence in sequences:
        heads = max(4, min(32, 32 * 8192 // sequence))
        for head_dim in (128, 64):
            for causal in (True, False):
                yield Shape(sequence, heads, heads // 4 if causal else heads, head_dim, causal)


def elapsed_us(torch, call, times):
    """Of one call among so many in a row, so that the GPU does not wait for the host."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / times


def median_us(torch, call, repeats):
    for _ in range(2):
        call()
    in_a_row = max(1, min(10, int(2000 / elapsed_us(torch, call, 3))))
    return statistics.median(elapsed_us(torch, call, in_a_row) for _ in range(repeats))


def torch_backends(torch):
    """What PyTorch takes by itself, and by name those that it has."""
    backends = {"torch": None}
    try:
        from torch.nn.attention import SDPBackend
        backends["flash"] = SDPBackend.FLASH_ATTENTION
        backends["cudnn"] = SDPBackend.CUDNN_ATTENTION
    except (ImportError, AttributeError):
        pass
    return backends


def backend_only(backend):
    """A context in which PyTorch uses nothing else; None leaves it the choice."""
    if backend is None:
        return contextlib.nullcontext()
    from torch.nn.attention import sdpa_kernel
    return sdpa_kernel(backend)


def compare(torch, ours, theirs):
    """Relative l2 norm of the difference."""
    difference = torch.linalg.vector_norm(ours.float() - theirs.float())
    return (difference / torch.linalg.vector_norm(theirs.float())).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tile", action="store_true")
    parser.add_argument("--mma", action="store_true")
    parser.add_argument("--shapes", default="4096,8192,16384,32768")
    parser.add_argument("--repeats", type=int, default=20)
    arguments = parser.parse_args()
    began = time.monotonic()
    import torch  # after the arguments: it takes seconds

    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU.")
    major, minor = torch.cuda.get_device_capability()
    print("%s, PyTorch %s" % (torch.cuda.get_device_name(), torch.__version__), flush=True)
    folder = tempfile.mkdtemp(prefix="attention-speed-")
    try:
        return measure(torch, arguments, "%d%d" % (major, minor), folder, began)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def instances_of(nvcc, arguments, capability, folder):
    """Those that compile; None when one that is held to its figures does not."""
    archs = [HOPPER if capability == "90" else capability]
    if arguments.mma and capability not in archs:
        archs.append(capability)
    tiles = [DEFAULT] + (OTHERS if arguments.tile else [])
    wanted = [(arch, tile) for arch in archs for tile in tiles]
    with ThreadPoolExecutor(max_workers=max(1, min(len(wanted), os.cpu_count() or 1))) as pool:
        built = list(pool.map(lambda one: build(nvcc, one[0], folder, one[1]), wanted))
    instances = []
    for (arch, tile), (library, log) in zip(wanted, built):
        if library is None:
            print("%s for sm_%s does not compile:\n%s" % (tile, arch, log[-2000:]))
            if (arch, tile) == (archs[0], DEFAULT):
                return None
            continue
        for by_head in (0, 1) if arguments.tile else (0,):
            instances.append(Instance(tile, arch, by_head))
            instances[-1].library = load(library)
    return instances


def measure(torch, arguments, capability, folder, began):
    nvcc = find_nvcc()
    with open(os.path.join(folder, "nccl.h"), "w", encoding="utf-8") as file:
        file.write("#pragma once\n" + NCCL_NAMES)
    instances = instances_of(nvcc, arguments, capability, folder)
    if instances is None:
        return 1
    print("built after %.0f s; a tile is keys-warps-blocks on an SM-by head" % (time.monotonic() - began))
    failed = not all([compare_shape(torch, shape, instances) for shape in ODD])
    backends = torch_backends(torch)
    print("\n%-30s %-14s %9s %9s %8s   %s" % ("sequence heads dim mask", "program", "us", "TFLOP/s", "of torch",
                                             "difference"))
    for shape in shapes_of([int(n) for n in arguments.shapes.split(",")]):
        if time.monotonic() - began > BUDGET_S and not arguments.tile:
            print("No time is left for %s and what follows." % shape)
            failed = True
            break
        failed |= not measure_shape(torch, shape, instances, backends, arguments.repeats)
    print("\nFAILED" if failed else "\nall agree, and every default tile reaches %.0f %%" % ENOUGH)
    return 1 if failed else 0


class Tensors:
    """Ours are [sequence][heads][dim]; PyTorch's views of them have a batch and the keys' heads repeated."""

    def __init__(self, torch, shape):
        generator = torch.Generator(device="cuda").manual_seed(1)

        def tensor(heads):
            values = torch.rand(shape.sequence, heads, shape.head_dim, device="cuda", generator=generator)
            return (values * 2 - 1).to(torch.bfloat16)

        self.torch, self.shape = torch, shape
        self.q, self.k, self.v = tensor(shape.heads_q), tensor(shape.heads_kv), tensor(shape.heads_kv)
        group = shape.heads_q // shape.heads_kv
        self.views = [x.transpose(0, 1)[None]
                      for x in (self.q, self.k.repeat_interleave(group, 1), self.v.repeat_interleave(group, 1))]
        self.out = torch.empty_like(self.q)

    def theirs(self):
        return self.torch.nn.functional.scaled_dot_product_attention(*self.views, is_causal=self.shape.causal)

    def ours(self, instance):
        shape = self.shape
        code = instance.library.attention(
            self.q.data_ptr(), self.k.data_ptr(), self.v.data_ptr(), self.out.data_ptr(), shape.sequence, shape.heads_q,
            shape.heads_kv, shape.head_dim, int(shape.causal), instance.by_head,
            self.torch.cuda.current_stream().cuda_stream)
        if code != 0:
            raise RuntimeError(instance.library.attention_error(code).decode())

    def difference(self, instance, expected):
        """Of one call from an output that is not a number anywhere; a NaN agrees with nothing."""
        self.out.fill_(float("nan"))
        self.ours(instance)
        self.torch.cuda.synchronize()
        return compare(self.torch, self.out, expected)


AGREES = 0.01  # both round to bf16


def compare_shape(torch, shape, instances):
    tensors = Tensors(torch, shape)
    expected = tensors.theirs()[0].transpose(0, 1)
    good = True
    for instance in instances:
        difference = tensors.difference(instance, expected)
        if not difference < AGREES:
            print("%s %s DIFFERS: %.4f" % (shape, instance, difference))
            good = False
    return good


def measure_shape(torch, shape, instances, backends, repeats):
    tensors = Tensors(torch, shape)
    expected, torch_us = None, None
    for name, backend in backends.items():
        try:
            with backend_only(backend):
                result = tensors.theirs()[0].transpose(0, 1)
                took = median_us(torch, tensors.theirs, repeats)
        except RuntimeError as error:
            if backend is None:
                raise
            print("%-30s %-14s takes no part: %s" % (shape, name, str(error).splitlines()[0][:60]))
            continue
        if expected is None:
            expected, torch_us = result, took
        print("%-30s %-14s %9.1f %9.0f %7.0f%%" % (shape, name, took, shape.flops() / took / 1e6, 100 * torch_us / took))
    good = True
    for index, instance in enumerate(instances):
        try:
            difference = tensors.difference(instance, expected)
            took = median_us(torch, lambda one=instance: tensors.ours(one), repeats)
        except RuntimeError as error:
            print("%-30s %-14s %s" % (shape, instance, error))
            good &= index != 0
            continue
        per_cent = 100 * torch_us / took
        agrees = difference < AGREES
        good &= agrees and (per_cent >= ENOUGH or index != 0)
        print("%-30s %-14s %9.1f %9.0f %7.0f%%   %.4f%s" % (shape, instance, took, shape.flops() / took / 1e6, per_cent,
                                                            difference, "" if agrees else " DIFFERS"), flush=True)
    return good


if __name__ == "__main__":
    sys.exit(main())
