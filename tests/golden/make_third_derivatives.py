#!/usr/bin/python3
"""Writes random graphs with the third derivatives PyTorch gives, for tests/golden/third_derivatives_test.cpp.

    python3 tests/golden/make_third_derivatives.py                     (needs PyTorch; the committed file: 1.13.1)
    python3 tests/golden/make_third_derivatives.py 10000 7 /tmp/graphs.txt
    GRADUS_THIRD_DERIVATIVES=/tmp/graphs.txt build/release/tests/golden_tests -tc='PyTorch parity: third*'

Arguments: how many, the seed, the file. A graph is a line "graph"; lines "in 2 3 : values", its inputs; lines
"op places integers", each a tensor more, numbered from 0 with the inputs; and "third values". With u_n(k) as in `along`,
the loss L is the sum of u_0 times the last tensor, and the values are those of d<d<dL, u_1>, u_2> in all inputs.
"""
import os, random, sys
import torch

from third_cases import OPS, Axis

HERE = os.path.dirname(os.path.abspath(__file__))


def along(xs, n):
    """u_n, of the tensors' shapes: eighths, counted through all elements."""
    us, k = [], 0
    for x in xs:
        us.append(torch.tensor([((7 * (k + i) + 3 * n) % 11 - 4.5) / 4 for i in range(x.numel())]).reshape(x.shape))
        k += x.numel()
    return us


class Pick:
    """Random places among the tensors so far, mostly late ones."""

    def __init__(self, rng, tensors):
        self.rng, self.tensors = rng, tensors

    def shape(self, place):
        return tuple(self.tensors[place].shape)

    def below(self, count):
        return self.rng.randrange(count)

    def one(self, fits=lambda shape: True):
        places = [i for i in range(len(self.tensors)) if fits(self.shape(i))]
        if not places:
            return None
        return [self.rng.choice(places[-2:] if self.rng.random() < 0.6 else places)]


def third(inputs, y):
    """The derivatives, or None where there are none."""
    s = (y * along([y], 0)[0]).sum()
    for n in 1, 2, 3:
        if not s.requires_grad:
            return None
        try:
            gs = torch.autograd.grad(s, inputs, create_graph=True, allow_unused=True)
        except RuntimeError:  # 1.13 itself fails where it adds in place to a gradient that is 0
            return None
        gs = [torch.zeros_like(x) if g is None else g for x, g in zip(inputs, gs)]
        s = sum((g * u).sum() for g, u in zip(gs, along(inputs, n)))
    return torch.cat([g.detach().reshape(-1) for g in gs])


def graph(rng):
    """Lines of one, or None where its numbers are useless."""
    lines, tensors = ["graph"], []
    for _ in range(rng.randint(1, 3)):
        shape = rng.choice([(2, 3), (3, 2), (3, 3), (2, 2), (3,), (2,), (1, 3), (2, 1)])
        values = [round(rng.uniform(-1.6, 1.6), 2) for _ in range(torch.Size(shape).numel())]
        lines.append(f"in {' '.join(map(str, shape))} : {' '.join(map(str, values))}")
        tensors.append(torch.tensor(values).reshape(shape).requires_grad_())
    inputs = list(tensors)
    for _ in range(rng.randint(3, 7)):
        for _ in range(50):
            name = rng.choice(list(OPS))
            choose, compute = OPS[name]
            arguments = choose(Pick(rng, tensors))
            if arguments is None:
                continue
            y = compute(*[a if isinstance(a, Axis) else tensors[a] for a in arguments])
            if y.abs().max() < 6:
                break
        else:
            return None
        lines.append(" ".join([name] + list(map(str, arguments))))
        tensors.append(y)
    values = third(inputs, tensors[-1])
    if values is None or not values.isfinite().all() or not 1e-3 < values.abs().max() < 1e3:
        return None
    return lines + ["third " + " ".join(f"{v:.15g}" for v in values.tolist())]


if __name__ == "__main__":
    count, seed, file = (sys.argv[1:] + ["300", "1", os.path.join(HERE, "third_derivatives.txt")][len(sys.argv) - 1 :])[:3]
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    rng, used, done = random.Random(int(seed)), {}, 0
    with open(file, "w") as out:
        while done < int(count):
            lines = graph(rng)
            if lines is None:
                continue
            done += 1
            out.write("\n".join(lines) + "\n")
            for line in lines[1:-1]:
                name = line.split()[0]
                used[name] = used.get(name, 0) + 1
    print(f"{file}: {done} graphs, {os.path.getsize(file)} bytes; {len(used) - 1} of {len(OPS)} ops, the rarest "
          f"{min(used.items(), key=lambda item: item[1])}")
