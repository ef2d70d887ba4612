#!/usr/bin/env python3
"""Tile kernels on a GPU beside what PyTorch has: products beside cuBLAS, elementwise and row kernels beside a copy of the
same bytes, attention beside the flash backend. Prints times and ratios; above 1 is faster than the peer.

    python3 tests/bench/tile_speed.py [--ockc PATH] [--target sm_90] [--only gemm|rows|attention] [--size 4096]

Needs PyTorch with CUDA. Every kernel is checked against PyTorch's result on poisoned outputs first. A figure is the median
over rounds in which all candidates run in turn, in shuffled order, so that they share one thermal state."""
import argparse
import ctypes
import json
import pathlib
import random
import statistics
import subprocess
import tempfile

import torch

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ROUNDS = 9
BURST_MS = 4.0
cuda = ctypes.CDLL("libcuda.so.1")
failures = []


def check(result, what):
    if result != 0:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"{what}: {text.value}")


class Kernel:
    """One instance of an entry, compiled by ockc."""

    def __init__(self, options, source, name, consts):
        self.options, self.name = options, name
        with tempfile.TemporaryDirectory() as folder:
            command = [options.ockc, str(source), "--target", options.target, "--out-dir", folder, "--emit", "ptx,manifest"]
            for const in consts:
                command += ["--const", const]
            subprocess.run(command, check=True)
            stem = pathlib.Path(folder) / pathlib.Path(source).stem
            image = stem.with_suffix(".ptx").read_bytes()
            manifest = json.loads(stem.with_suffix(".json").read_text())
        self.about = next(kernel for kernel in manifest["kernels"] if kernel["name"] == name)
        module = ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(module), ctypes.c_char_p(image + b"\0")), f"loading {name}")
        self.function = ctypes.c_void_p()
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, self.about["symbol"].encode()), "symbol")
        self.shared = max(self.about["launch"]["dynamic_shared"] or [0])
        if self.shared > 0:
            check(cuda.cuFuncSetAttribute(self.function, 8, self.shared), "dynamic shared memory")

    def bind(self, grid, *arguments):
        """A function that launches; tensors are passed as pointer, extents and strides."""
        values = []
        for argument in arguments:
            if isinstance(argument, torch.Tensor):
                values.append(ctypes.c_uint64(argument.data_ptr()))
                values += [ctypes.c_int32(extent) for extent in argument.shape]
                values += [ctypes.c_int32(stride) for stride in argument.stride()]
            elif isinstance(argument, float):
                values.append(ctypes.c_float(argument))
            else:
                values.append(ctypes.c_int32(argument))
        if len(values) != len(self.about["slots"]):
            raise RuntimeError(f"{self.name} takes {len(self.about['slots'])} parameters, not {len(values)}")
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        block = self.about["launch"]["block"]

        def launch():
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            check(cuda.cuLaunchKernel(self.function, *grid, *block, self.shared, stream, pointers, None), self.name)

        launch.keep = (values, arguments)
        return launch


def time_of(run, count):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(count):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1000 / count


def race(candidates):
    """Microseconds of each candidate, and of each the median ratio to the first."""
    counts = {}
    for name, run in candidates.items():
        for _ in range(3):
            run()
        torch.cuda.synchronize()
        counts[name] = max(1, min(200, int(BURST_MS * 1000 / time_of(run, 3))))
    times = {name: [] for name in candidates}
    for _ in range(ROUNDS):
        order = list(candidates)
        random.shuffle(order)
        for name in order:
            times[name].append(time_of(candidates[name], counts[name]))
    peer = next(iter(candidates))
    return {name: (statistics.median(own), statistics.median(p / o for p, o in zip(times[peer], own))) for name, own in times.items()}


def report(title, results, work, unit):
    print(f"\n{title}")
    for name, (us, ratio) in results.items():
        print(f"  {name:34} {us:10.1f} us  {work / us / 1e6:8.1f} {unit}  {ratio:5.2f}", flush=True)


def compare(name, got, want, tolerance):
    error = ((got.double() - want.double()).norm() / want.double().norm()).item()
    if not error < tolerance:
        raise RuntimeError(f"{name}: relative error {error}")


def enter(candidates, name, make):
    """Adds what `make` gives, unless it is wrong: then the others run without it."""
    try:
        candidates[name] = make()
        torch.cuda.synchronize()
    except (RuntimeError, subprocess.CalledProcessError) as error:
        candidates.pop(name, None)
        failures.append(f"{name}: {error}")
        print(f"  WRONG {name}: {error}", flush=True)


def blocks(extent, tile):
    return (extent + tile - 1) // tile


def gemm(options):
    n = options.size
    for dtype, text in ((torch.bfloat16, "bf16"), (torch.float16, "f16")):
        x, y = torch.randn(n, n, device="cuda", dtype=dtype), torch.randn(n, n, device="cuda", dtype=dtype)
        out = torch.empty_like(x)
        candidates = {"cuBLAS": lambda: torch.matmul(x, y, out=out)}
        want = torch.matmul(x, y)
        for bm, bn, bk in ((128, 128, 32), (128, 128, 64), (128, 256, 32), (128, 256, 64), (256, 128, 32), (64, 256, 32)):
            def make():
                z = torch.full((n, n), float("nan"), device="cuda", dtype=dtype)
                kernel = Kernel(options, HERE / "tile_speed.rsk", "gemm", [f"T={text}", f"BM={bm}", f"BN={bn}", f"BK={bk}", "B=128", "N=128"])
                run = kernel.bind((blocks(n, bm), blocks(n, bn), 1), z, x, y)
                run()
                compare("product", z, want, 5e-3)
                return run

            enter(candidates, f"ockc {bm} x {bn} x {bk}", make)
        report(f"{text} product, {n} x {n} x {n}", race(candidates), 2.0 * n**3, "TFLOP/s")


def rows(options):
    height, width = 16384, 4096
    source = HERE / "tile_speed.rsk"
    others = ["T=bf16", "BM=128", "BN=128", "BK=32"]
    x = torch.randn(height, width, device="cuda", dtype=torch.bfloat16)
    flat = x.view(-1)
    wide = torch.randn(height * width // 2, device="cuda")
    copy16, copy32 = torch.empty_like(x), torch.empty_like(wide)
    bytes16, bytes32 = 2 * 2 * height * width, 2 * 4 * wide.numel()
    for block in (1024, 2048, 4096):
        consts = others + [f"B={block}", "N=4096"]
        z32 = torch.full_like(wide, float("nan"))
        z16 = torch.full_like(flat, float("nan"))
        saxpy = Kernel(options, source, "saxpy", consts).bind((blocks(wide.numel(), block), 1, 1), z32, wide, 3.0)
        scale = Kernel(options, source, "scale_bf16", consts).bind((blocks(flat.numel(), block), 1, 1), z16, flat, 0.5)
        saxpy()
        compare("saxpy", z32, wide * 3 + 1, 1e-6)
        scale()
        compare("scale", z16, flat * 0.5, 1e-6)
        report(f"elementwise, tiles of {block}", race({"copy of as many bytes (f32)": lambda: copy32.copy_(wide), "saxpy f32": saxpy}), bytes32, "TB/s")
        report(f"elementwise, tiles of {block}", race({"copy of as many bytes (bf16)": lambda: copy16.copy_(x), "scale bf16": scale}), bytes16, "TB/s")
    consts = others + ["B=1024", f"N={width}"]
    z = torch.full_like(x, float("nan"))
    softmax = Kernel(options, source, "softmax", consts).bind((height, 1, 1), z, x)
    softmax()
    compare("softmax", z, torch.softmax(x.float(), 1), 5e-3)
    norm = Kernel(options, source, "rms_norm", consts).bind((height, 1, 1), z, x, float(width))
    norm()
    compare("rms_norm", z, x.float() * torch.rsqrt(x.float().pow(2).mean(1, keepdim=True) + 1e-5), 5e-3)
    report(f"rows of {width} bf16", race({"copy of as many bytes": lambda: copy16.copy_(x), "softmax": softmax, "rms_norm": norm,
                                          "torch softmax": lambda: torch.softmax(x, 1, out=copy16)}), bytes16, "TB/s")


def attention(options):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    depth = 128
    for batches, heads, length, causal in ((1, 32, 8192, 0), (1, 32, 8192, 1), (4, 32, 2048, 0), (4, 32, 2048, 1)):
        q, k, v = (torch.randn(batches, heads, length, depth, device="cuda", dtype=torch.bfloat16) for _ in range(3))

        def peer():
            with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))

        candidates, want = {"torch flash": peer}, peer()
        for bm, bn in ((128, 64), (128, 32), (128, 128), (64, 64)):
            def make():
                out = torch.full((batches * heads, length, depth), float("nan"), device="cuda", dtype=torch.bfloat16)
                kernel = Kernel(options, ROOT / "samples/tile_attention/tile_attention.rsk", "flash",
                                ["T=bf16", f"BM={bm}", f"BN={bn}", f"D={depth}"])
                run = kernel.bind((batches * heads, blocks(length, bm), 1), out, q, k, v, depth**-0.5, 1, causal)
                run()
                compare("attention", out.view_as(want), want, 1e-2)
                return run

            enter(candidates, f"ockc {bm} x {bn}", make)
        work = 4.0 * batches * heads * length * length * depth * (0.5 if causal else 1.0)
        report(f"attention {batches} x {heads} x {length} x {depth} {'causal' if causal else 'full'}", race(candidates), work, "TFLOP/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ockc", default=str(ROOT / "build/release/bin/ockc"))
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--only", choices=("gemm", "rows", "attention"))
    parser.add_argument("--size", type=int, default=4096)
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.zeros(1, device="cuda")   # makes the context
    for name, part in (("gemm", gemm), ("rows", rows), ("attention", attention)):
        if options.only in (None, name):
            part(options)
    if failures:
        raise SystemExit("\n".join(["", "WRONG:", *failures]))


if __name__ == "__main__":
    main()
