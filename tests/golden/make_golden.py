#!/usr/bin/python3
"""Writes the values PyTorch gives for every op and module, for tests/golden/*_test.cpp to compare with.

    python3 tests/golden/make_golden.py        (needs PyTorch; the committed files were made with 1.13.1)

Each case of ops.safetensors has <name>/in0, in1, ... (inputs), <name>/out, <name>/dy (the gradient fed to backward)
and <name>/grad0, ... for inputs that are differentiable. modules.safetensors adds <name>/param/<key> and
<name>/grad/<key>. losses.safetensors holds the training losses of small language models, optim.safetensors the
trajectories of optimizers.
"""
import json, os, struct
import torch

from module_cases import layer_cases, module_cases
from op_cases import op_cases, pointwise_cases, shape_cases
from training_cases import training, trajectories

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64", torch.bool: "BOOL"}


def save(file, tensors):
    header, offset, blobs = {}, 0, []
    for name, t in sorted(tensors.items(), key=lambda item: -item[1].element_size()):  # keeps each aligned
        blob = t.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": NAMES[t.dtype], "shape": list(t.shape), "data_offsets": [offset, offset + len(blob)]}
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(HERE, file), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))
    print(f"{file}: {len(tensors)} tensors, {offset + len(text)} bytes")


def run_case(out, name, f, inputs, params=()):
    inputs = [x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs]
    y = f(*inputs)
    for i, x in enumerate(inputs):
        out[f"{name}/in{i}"] = x
    out[f"{name}/out"] = y
    if y.is_floating_point() and y.requires_grad:
        dy = torch.randn_like(y)
        y.backward(dy)
        out[f"{name}/dy"] = dy
        for i, x in enumerate(inputs):
            if x.is_floating_point() and x.grad is not None:
                out[f"{name}/grad{i}"] = x.grad
    for key, p in params:
        out[f"{name}/param/{key}"] = p
        if p.grad is not None:
            out[f"{name}/grad/{key}"] = p.grad


if __name__ == "__main__":
    torch.manual_seed(0)
    ops, modules, losses, optim = {}, {}, {}, {}
    for name, f, inputs in op_cases():
        run_case(ops, name, f, inputs)
    for name, module, f, inputs in module_cases():
        run_case(modules, name, lambda *x: f(module, *x), inputs, list(module.named_parameters()))
    training(losses)
    trajectories(optim)
    torch.manual_seed(1)
    layers = {}
    for name, module, f, inputs in layer_cases():
        run_case(layers, name, lambda *x: f(module, *x), inputs, list(module.named_parameters()))
        for key, value in module.named_buffers():
            layers[f"{name}/buffer/{key}"] = value
    save("layers.safetensors", layers)
    save("ops.safetensors", ops)
    save("modules.safetensors", modules)
    save("losses.safetensors", losses)
    save("optim.safetensors", optim)
    torch.manual_seed(1)
    shapes = {}
    for name, f, inputs in shape_cases():
        run_case(shapes, name, f, inputs)
    save("shapes.safetensors", shapes)
    torch.manual_seed(1)
    pointwise = {}
    for name, f, inputs in pointwise_cases():
        run_case(pointwise, name, f, inputs)
    save("pointwise.safetensors", pointwise)
