#!/usr/bin/python3
"""The figures of PyTorch in attention_accuracy_test.cpp: relative errors of float32 gradients against float64 ones.

    python3 tests/ops/attention/attention_errors.py        (needs PyTorch; the figures in the test are those of 1.13.1)
"""
import torch

T, D = 513, 64


def gradients(inputs, dy, causal, dtype):
    q, k, v = [x.to(dtype).clone().requires_grad_() for x in inputs]
    s = q @ k.transpose(-2, -1) / D ** 0.5
    if causal:
        s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool).tril(), -float("inf"))
    (s.softmax(-1) @ v).backward(dy.to(dtype))
    return [x.grad.double() for x in (q, k, v)]


for size, k_offset, v_offset in (0.03, 0, 0), (0.03, 0, 1000), (0.03, 1000, 0), (0.03, 1000, 1000), (1, 0, 1000):
    for causal in False, True:
        torch.manual_seed(0)
        q, k, v, dy = [torch.randn(1, 2, T, D) for _ in range(4)]
        inputs = q * size, k * size + k_offset, v + v_offset
        exact = gradients(inputs, dy, causal, torch.float64)
        got = gradients(inputs, dy, causal, torch.float32)
        errors = ["%.2g" % ((a - b).norm() / b.norm()).item() for a, b in zip(got, exact)]
        print(f"{{{size}, {k_offset}, {v_offset}, {str(causal).lower()}, {{{', '.join(errors)}}}}},")
