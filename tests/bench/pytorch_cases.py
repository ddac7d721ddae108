#!/usr/bin/env python3
"""The cases of ./run bench in PyTorch, for ./run bench --against-pytorch.

pytorch_cases.py --list                     what there is to run, as one JSON line
pytorch_cases.py CASE --threads N --steps N [--precision bf16]  times it, one JSON line

Each case does what the case of the same name in model_cases.cpp, op_cases.cpp or transformer_cases.cpp does, written
as a user of PyTorch would write it. Ends with status 3 when PyTorch is not installed.
"""

import argparse
import ctypes
import json
import statistics
import sys
import time

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError as error:
    print(f"pytorch_cases.py: {error}", file=sys.stderr)
    sys.exit(3)

import pytorch_encoders
import pytorch_precision
import pytorch_transformers
from pytorch_gpt import GPT, GPT2, SMALL, Kept, attention, training_step
from pytorch_precision import products, stored


# --- models ---------------------------------------------------------------------------------------------


def gpt(batch, tokens, **options):
    return training_step(GPT(**options), options["vocab"], batch, tokens)


def hvp(batch, tokens, **options):
    model = GPT(**options)
    weights = list(model.parameters())
    v = [torch.randn_like(w) for w in weights]
    ids, targets = torch.randint(options["vocab"], (2, batch, tokens))

    def step():
        with products():
            loss = model.loss(ids, targets)
        gradients = torch.autograd.grad(loss, weights, create_graph=True)
        torch.autograd.grad(gradients, weights, v)

    return step


def generate(**options):
    model = stored(GPT(**options))
    dtype = model.norm.weight.dtype
    kept = [Kept(options["heads"], options["context"], options["d_model"], dtype=dtype) for _ in model.blocks]
    prompt = torch.randint(options["vocab"], (1, 64))

    @torch.inference_mode()
    def step():
        if kept[0].length == 0:
            model.next_logits(prompt, kept)
        model.next_logits(prompt[:, :1], kept).argmax()
        if kept[0].length == options["context"]:
            for block in kept:
                block.length = 0

    return step


def encoder(layers):
    # Post-LN is what TransformerEncoderLayer does unless told otherwise.
    block = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(block, layers)
    opt = torch.optim.Adam(model.parameters(), lr=1e-4)
    x = torch.randn(16, 64, 64)

    def step():
        opt.zero_grad(set_to_none=True)
        with products():
            loss = model(x).square().mean()
        loss.backward()
        opt.step()

    return step


def mlp():
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    x, y = torch.randn(32, 2), torch.randn(32, 1)

    def step():
        opt.zero_grad(set_to_none=True)
        with products():
            loss = F.mse_loss(model(x), y)
        loss.backward()
        opt.step()

    return step


# --- single ops -----------------------------------------------------------------------------------------


def forward_backward(f, *shapes, parameters=()):
    """f of random tensors and its backward from a fixed gradient."""
    inputs = [torch.randn(shape, requires_grad=True) for shape in shapes]
    dy = torch.randn(shapes[0])

    def step():
        for x in (*inputs, *parameters):
            x.grad = None
        with products():
            y = f(*inputs)
        y.backward(dy.to(y.dtype))

    return step


def attention_1024():
    hidden = torch.ones(1024, 1024, dtype=torch.bool).triu(1)
    return forward_backward(lambda q, k, v: attention(q, k, v, hidden), *[(1, 8, 1024, 64)] * 3)


def layer_norm():
    norm = nn.LayerNorm(768)
    return forward_backward(norm, (4096, 768), parameters=list(norm.parameters()))


def adam():
    p = torch.zeros(124_000_000, requires_grad=True)
    p.grad = torch.randn(p.shape)
    return torch.optim.AdamW([p], lr=1e-4).step


def tiny_backward():
    a, b = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True)

    def step():
        a.grad = b.grad = None
        (a * b + a).sum().backward()

    return step


def tiny_add(requires_grad):
    a, b = torch.randn(4, 4, requires_grad=requires_grad), torch.randn(4, 4)
    return lambda: a + b


# Name: what to set up, and how many runs make one measurement (as in model_cases.cpp and op_cases.cpp).
CASES = {
    "char-gpt": (lambda: gpt(12, 64, **SMALL), 1),
    "char-gpt-hvp": (lambda: hvp(12, 64, **SMALL), 1),
    "gpt2-124m": (lambda: gpt(4, 64, **GPT2), 1),
    "generate-124m": (lambda: generate(**GPT2), 1),
    "encoder-12": (lambda: encoder(12), 1),
    "encoder-48": (lambda: encoder(48), 1),
    "mlp": (mlp, 100),
    "attention-1024": (attention_1024, 1),
    "layernorm": (layer_norm, 1),
    "softmax": (lambda: forward_backward(lambda x: torch.softmax(x, -1), (4096, 1024)), 1),
    "gelu": (lambda: forward_backward(F.gelu, (4096, 3072)), 1),
    "adam-124m": (adam, 1),
    "tiny-ops": (tiny_backward, 1000),
    "tiny-ops-add": (lambda: tiny_add(False), 10000),
    "tiny-ops-tape": (lambda: tiny_add(True), 10000),
    **pytorch_encoders.CASES,
    **pytorch_transformers.CASES,
}


# --- measuring ------------------------------------------------------------------------------------------


def measure(step, repeat, steps):
    """Seconds of each measurement, counted as measure.cpp counts them."""

    def once():
        start = time.perf_counter()
        for _ in range(repeat):
            step()
        return (time.perf_counter() - start) / repeat

    begin = time.perf_counter()
    warm = 0
    while warm < 3 or time.perf_counter() - begin < 0.3:
        once()
        warm += 1
    seconds = []
    begin = time.perf_counter()
    while len(seconds) < steps or (time.perf_counter() - begin < 0.5 and len(seconds) < 1000):
        seconds.append(once())
    return seconds


def blas_core():
    """The kernels of the OpenBLAS this process has loaded, such as "Haswell"; "" when it uses another BLAS."""
    with open("/proc/self/maps") as maps:
        loaded = {line.split()[-1] for line in maps if "blas" in line}
    for path in sorted(loaded):
        try:
            name = ctypes.CDLL(path).openblas_get_corename
        except (OSError, AttributeError):
            continue
        name.restype = ctypes.c_char_p
        return name().decode()
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("case", nargs="?", choices=CASES)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32")
    options = parser.parse_args()
    if options.list or not options.case:
        print(json.dumps({"torch": torch.__version__, "blas_core": blas_core(), "cases": list(CASES)}))
        return
    torch.set_num_threads(options.threads)
    pytorch_precision.precision = options.precision
    torch.manual_seed(0)
    make, repeat = CASES[options.case]
    seconds = measure(make(), repeat, options.steps)
    line = {
        "case": options.case,
        "threads": options.threads,
        "precision": options.precision,
        "blas_core": blas_core(),
        "median_s": statistics.median(seconds),
        "min_s": min(seconds),
        "steps": len(seconds),
    }
    print(json.dumps(line))


main()
