#!/usr/bin/python3
"""Writes the Hessians PyTorch gives, for tests/golden/hessians_test.cpp.

    python3 tests/golden/make_hessians.py      (needs PyTorch; the committed file was made with 1.13.1)

hessians.safetensors, all in f64: <name>/param/<key>, <name>/in0, ..., <name>/weights, which the output is multiplied by
before it is summed to the loss, <name>/loss, and <name>/hessian [n, n] over the elements of the inputs, if they are
differentiated too, and of the parameters listed in PARAMETERS, one after the other.
"""
import torch
import torch.nn as nn
from torch.autograd.functional import hessian
from torch.nn.utils.stateless import functional_call

from make_golden import save
from module_cases import shaken
from op_cases import causal, r

E, H, Fd, T = 4, 2, 6, 3
PARAMETERS = {
    "pre": ["layers.0.self_attn.in_proj_weight", "layers.0.norm1.weight", "layers.1.linear1.weight", "layers.1.norm2.bias"],
    "post": ["layers.0.self_attn.in_proj_weight", "layers.0.norm1.weight", "layers.1.linear1.weight", "layers.1.norm2.bias"],
    "cross": ["in_proj_weight", "out_proj.weight"],
}


def run(out, name, module, f, inputs, with_inputs):
    """Adds a case. f: module's call, a function of a module-like call and the inputs."""
    parameters = dict(module.named_parameters())
    keys = PARAMETERS[name]
    weights = r(*f(module, *inputs).shape)

    def loss(*moved):
        xs = moved[: len(inputs)] if with_inputs else inputs
        new = dict(zip(keys, moved[len(inputs) if with_inputs else 0 :]))
        return (f(lambda *a, **o: functional_call(module, new, a, o), *xs) * weights).sum()

    moved = tuple(([x for x in inputs] if with_inputs else []) + [parameters[key].detach() for key in keys])
    blocks = hessian(loss, moved)
    rows = [torch.cat([block.reshape(x.numel(), -1) for block in row], 1) for x, row in zip(moved, blocks)]
    out[f"{name}/hessian"] = torch.cat(rows)
    out[f"{name}/loss"] = loss(*moved)
    out[f"{name}/weights"] = weights
    out.update({f"{name}/in{i}": x for i, x in enumerate(inputs)})
    out.update({f"{name}/param/{key}": value for key, value in parameters.items()})


if __name__ == "__main__":
    torch.manual_seed(4)
    torch.set_default_dtype(torch.float64)
    cases = {}
    for name, first in ("pre", True), ("post", False):
        layer = nn.TransformerEncoderLayer(E, H, Fd, dropout=0.0, batch_first=True, activation="gelu", norm_first=first)
        stack = shaken(nn.TransformerEncoder(layer, 2, nn.LayerNorm(E) if first else None))
        call = (lambda m, x: m(x, mask=causal(T))) if first else (lambda m, x: m(x))
        run(cases, name, stack, call, [r(1, T, E)], False)
    attention = shaken(nn.MultiheadAttention(E, H, batch_first=True))
    run(cases, "cross", attention, lambda m, q, kv: m(q, kv, kv)[0], [r(1, 2, E), r(1, T, E)], True)
    save("hessians.safetensors", cases)
