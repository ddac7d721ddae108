"""What PyTorch's products are made in: f32, or bf16. pytorch_cases.py sets it from --precision."""

import contextlib

import torch

precision = "f32"


def products():
    """For a forward pass in training: torch.autocast in bf16, nothing in f32."""
    if precision == "f32":
        return contextlib.nullcontext()
    return torch.autocast("cpu", torch.bfloat16)


def stored(model):
    """For generating: the whole model in bf16, as autocast would convert every weight again for every token."""
    return model if precision == "f32" else model.bfloat16()
