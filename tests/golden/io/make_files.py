#!/usr/bin/env python3
"""Writes the small files that tests/core/io reads: .npy by NumPy, .safetensors by hand from its specification.
Run by hand in this folder: make_files.py
"""
import json
import struct
import numpy as np
import torch


def npy():
    x = np.array([[1.5, -2, 3], [4, 5, 6.25]])
    np.save("f4.npy", x.astype("<f4"))
    np.save("f8_column_major.npy", np.asfortranarray(x))
    np.save("i8.npy", np.array([[[1, -2], [3, 2**62]]], dtype="<i8"))
    np.save("i4.npy", np.array([[1, -2, 3], [2**31 - 1, -(2**31), 0]], dtype="<i4"))
    np.save("u1_column_major.npy", np.asfortranarray(np.array([[0, 1, 127], [128, 255, 7]], dtype="u1")))
    np.save("b1.npy", np.array([True, False, True]))
    np.save("scalar.npy", np.float64(2.5))
    np.save("empty.npy", np.zeros((0, 3), dtype="<f4"))
    with open("version2.npy", "wb") as f:
        np.lib.format.write_array(f, x.astype("<f4"), version=(2, 0))


def safetensors():
    torch.manual_seed(0)
    tensors = {
        "fc.weight": torch.arange(6, dtype=torch.float32).reshape(2, 3) / 4,
        "double": torch.tensor([0.1, -1e300], dtype=torch.float64),
        "steps": torch.tensor(2**40 + 1),
        "mask": torch.tensor([[True], [False], [True]]),
        "nothing": torch.zeros(0, 5),
    }
    names = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64", torch.bool: "BOOL"}
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, x in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        raw = x.numpy().tobytes()
        header[name] = {"dtype": names[x.dtype], "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open("weights.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


npy()
safetensors()
