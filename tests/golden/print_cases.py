#!/usr/bin/env python3
"""Writes print.txt: tensors and how PyTorch 1.13 prints them. Run by hand: print_cases.py > print.txt

A case is a line `DTYPE (SIZES) FLAGS: VALUES` - the values are repeated until the shape is full - then PyTorch's
text, with its names of types replaced by ours, then a line of dashes.
"""
import math
import torch

TYPES = {"f32": torch.float32, "f64": torch.float64, "i64": torch.int64, "bool": torch.bool}
INF, NAN = math.inf, math.nan


def case(dtype, shape, *values, flags=""):
    n = math.prod(shape)
    flat = torch.tensor(values, dtype=TYPES[dtype]).repeat(n // len(values) + 1)[:n]
    x = flat.reshape(shape).clone()
    x.requires_grad_("requires_grad" in flags)
    text = repr(x).replace("torch.float32", "f32").replace("torch.float64", "f64")
    text = text.replace("torch.int64", "i64").replace("torch.bool", "bool")
    written = " ".join(repr(v) if dtype[0] == "f" else str(int(v)) for v in flat[: len(values)].tolist())
    print(f"{dtype} ({' '.join(map(str, shape))}) {flags}: {written}\n{text}\n{'-' * 20}")


def main():
    torch.manual_seed(0)
    noise = torch.randn(97).tolist()
    wide = (torch.randn(97) * 100).tolist()

    # 0-d
    for value in (0.0, 1.0, -2.5, 1e-5, 123456.0, 1e9, 3.14159265, INF, -INF, NAN, -0.0):
        case("f32", (), value)
    case("f64", (), 0.1)
    case("i64", (), -7)
    case("bool", (), True)

    # empty
    case("f32", (0,), 0)
    case("f32", (0, 3), 0)
    case("f32", (2, 0, 3), 0)
    case("f64", (0,), 0)
    case("i64", (0,), 0)
    case("i64", (4, 0), 0)
    case("bool", (0,), 0)

    # whole numbers, decimals, scientific
    case("f32", (3,), 1, 2, 3)
    case("f32", (4,), 0, -1, 10, 100)
    case("f32", (3,), 1, 1000, -5)
    case("f32", (3,), 1, 1001, -5)
    case("f32", (2,), 1e8, 2e8)
    case("f32", (2,), 9e7, 1e8)
    case("f32", (5,), 0.5, -1.25, 100, 0, 3)
    case("f32", (3,), 0.1, 99.99, 100.05)
    case("f32", (3,), 0.1, 100.5, 0.099)
    case("f32", (2,), 1e-4, 0.05)
    case("f32", (2,), 9.9e-5, 0.05)
    case("f32", (2,), 1e-10, -1e-10)
    case("f64", (3,), 1e-300, 1e300, 0)
    case("f32", (3,), 0.99995, 1.00005, 2.00015)
    case("f32", (3,), 1e-40, 0, 1)
    case("f32", (4,), 16777216, 16777215, 1, 0.5)

    # not numbers
    case("f32", (3,), NAN, 1, 2)
    case("f32", (3,), INF, -INF, 0.5)
    case("f32", (3,), NAN, INF, -INF)
    case("f32", (3,), NAN, 1e9, 1)
    case("f32", (4,), INF, 100000, 0.5, -INF)
    case("f32", (2, 2), 0, NAN, -0.0, 0)

    # other types
    case("i64", (5,), 1, -20, 300, 0, 7)
    case("i64", (2, 2), -9223372036854775808, 9223372036854775807, 0, 1)
    case("bool", (2, 3), True, False, False)
    case("bool", (2,), True, True)
    case("f64", (2, 3), 1.5, -2, 3)

    # axes
    case("f32", (2, 3), 1, 2, 3, 4, 5, 6)
    case("f32", (1, 1, 1), 7)
    case("f32", (2, 2, 3), *noise)
    case("f32", (2, 1, 2, 2), *wide)
    case("i64", (1, 2, 1, 2, 1), 5, -6)

    # lines of 80 characters
    case("f32", (9,), *noise)
    case("f32", (10,), *noise)
    case("f32", (30,), *noise)
    case("f32", (3, 25), *wide)
    case("f32", (2, 2, 12), *noise)
    case("i64", (40,), *range(40))
    case("bool", (30,), True, False)
    case("f32", (11,), 1e-7, 1)
    case("i64", (6,), -9223372036854775808)
    case("f32", (1000,), 1, 2.5)

    # summaries
    case("f32", (1001,), *noise)
    case("f32", (1001,), 1, 2, 3, 4)
    case("f32", (32, 32), *wide)
    case("f32", (6, 200), *noise)
    case("f32", (200, 6), *noise)
    case("f32", (7, 150), *noise)
    case("f32", (8, 9, 20), *noise)
    case("i64", (1100, 1), *range(97))
    case("f32", (1, 1100), 1e-6, 1, 3)
    case("bool", (50, 50), True, False, True)
    case("f32", (2, 3, 4, 50), *noise)
    # only what is shown decides the layout
    case("f32", (1206,), 1, 2, 3, 1e9, 1e9, 1e9, 4, 5, 6)

    # notes behind
    case("f32", (3,), 1, 2, 3, flags="requires_grad")
    case("f64", (3,), 1, 2, 3, flags="requires_grad")
    case("f32", (7,), *wide, flags="requires_grad")
    case("f32", (8,), *noise, flags="requires_grad")
    case("f32", (0, 2), 0, flags="requires_grad")
    case("f64", (2, 6), *wide, flags="requires_grad")


main()
