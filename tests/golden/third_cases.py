"""Random graphs for make_third_derivatives.py: what an op's name means, and where it may be applied.

An op is (choose, compute): choose(pick) gives its arguments, places of earlier tensors and then integers, or None where
it does not fit; compute gets the tensors and integers. third_derivatives_test.cpp has the same names. `above` keeps
arguments of logarithms and the like positive.
"""
import torch
import torch.nn.functional as F


class Axis(int):
    """An argument that is an axis, not the place of a tensor."""


def above(x):
    return x * x + 0.5


def unary(f):
    return lambda pick: pick.one(), f


def binary(f):
    def choose(pick):
        a, b = pick.one(), pick.one()
        try:
            torch.broadcast_shapes(pick.shape(a[0]), pick.shape(b[0]))
        except RuntimeError:
            return None
        return a + b

    return choose, f


def along(f, least=1):
    """f(x, axis) where that axis has at least so many elements."""

    def choose(pick):
        x = pick.one(lambda shape: len(shape) > 0)
        if x is None:
            return None
        axis = pick.below(len(pick.shape(x[0])))
        return x + [Axis(axis)] if pick.shape(x[0])[axis] >= least else None

    return choose, f


def rows(f):
    """f(x) of a matrix with rows of two elements or more."""
    return lambda pick: pick.one(lambda shape: len(shape) == 2 and shape[1] > 1), f


def same(f):
    """f(a, b) of the same shape."""

    def choose(pick):
        a = pick.one()
        b = pick.one(lambda shape: shape == pick.shape(a[0]))
        return None if b is None else a + b

    return choose, f


def matrices(f, fits):
    """f(a, b, ...) of matrices whose shapes fit."""

    def choose(pick):
        count = fits.__code__.co_argcount
        xs = [pick.one(lambda shape: len(shape) == 2) for _ in range(count)]
        if None in xs or not fits(*[pick.shape(x[0]) for x in xs]):
            return None
        return sum(xs, [])

    return choose, f


def affine(norm):
    """norm(x, weight, bias) with rows for x, and vectors of their length."""

    def choose(pick):
        x = pick.one(lambda shape: len(shape) == 2 and shape[1] > 1)
        if x is None:
            return None
        w = pick.one(lambda shape: shape == pick.shape(x[0])[1:])
        b = pick.one(lambda shape: shape == pick.shape(x[0])[1:])
        return None if w is None or b is None else x + w + b

    return choose, norm


def attention(q, k, v):
    return (q @ k.t() * q.shape[1] ** -0.5).softmax(-1) @ v


def layer_norm(x):
    """Written out: the third derivative of PyTorch 1.13's F.layer_norm treats mean and rstd as constants."""
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + 1e-5)


def rms(x, *weight):
    y = x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()
    return y * weight[0] if weight else y


def targets(x):
    return torch.arange(x.shape[0]) % x.shape[1]


OPS = {
    "neg": unary(torch.neg),
    "square": unary(torch.square),
    "exp": unary(torch.exp),
    "expm1": unary(torch.expm1),
    "sin": unary(torch.sin),
    "cos": unary(torch.cos),
    "tanh": unary(torch.tanh),
    "sigmoid": unary(torch.sigmoid),
    "relu": unary(torch.relu),
    "leaky_relu": unary(lambda x: F.leaky_relu(x, 0.2)),
    "abs": unary(torch.abs),
    "erf": unary(torch.erf),
    "silu": unary(F.silu),
    "gelu": unary(F.gelu),
    "gelu_tanh": unary(lambda x: F.gelu(x, approximate="tanh")),
    "softplus": unary(F.softplus),
    "clamp": unary(lambda x: x.clamp(-0.7, 1.1)),
    "log": unary(lambda x: above(x).log()),
    "log1p": unary(lambda x: above(x).log1p()),
    "sqrt": unary(lambda x: above(x).sqrt()),
    "rsqrt": unary(lambda x: above(x).rsqrt()),
    "reciprocal": unary(lambda x: above(x).reciprocal()),
    "pow_2.5": unary(lambda x: above(x).pow(2.5)),
    "pow_3": unary(lambda x: x.pow(3)),
    "sum_all": unary(torch.sum),
    "norm_all": unary(lambda x: above(x).norm()),
    "add": binary(torch.add),
    "sub": binary(torch.sub),
    "mul": binary(torch.mul),
    "div": binary(lambda a, b: a / above(b)),
    "pow": binary(lambda a, b: torch.exp(b * above(a).log())),  # PyTorch's pow drops terms where b is 0 or 1
    "maximum": binary(torch.maximum),
    "minimum": binary(torch.minimum),
    "where": binary(lambda a, b: torch.where(a > b, a * b, b)),
    "sum": along(lambda x, axis: x.sum(axis)),
    "mean": along(lambda x, axis: x.mean(axis, keepdim=True)),
    "var": along(lambda x, axis: x.var(axis), least=2),
    "std": along(lambda x, axis: (x + torch.arange(x.numel()).reshape(x.shape)).std(axis), least=2),
    "prod": along(lambda x, axis: x.prod(axis)),
    "logsumexp": along(lambda x, axis: x.logsumexp(axis)),
    "norm": along(lambda x, axis: above(x).norm(dim=axis)),
    "max": along(lambda x, axis: x.amax(axis)),
    "min": along(lambda x, axis: x.amin(axis)),
    "cumsum": along(lambda x, axis: x.cumsum(axis)),
    "softmax": along(lambda x, axis: x.softmax(axis)),
    "log_softmax": along(lambda x, axis: x.log_softmax(axis)),
    "flip": along(lambda x, axis: x.flip(axis)),
    "roll": along(lambda x, axis: x.roll(1, axis)),
    "first": along(lambda x, axis: x.select(axis, 0)),
    "steps": along(lambda x, axis: x[::2] if axis == 0 else x[:, ::2]),
    "unsqueeze": (lambda pick: pick.one(lambda shape: len(shape) == 1), lambda x: x.unsqueeze(0)),
    "flatten": unary(lambda x: x.reshape(-1)),
    "sorted": along(lambda x, axis: x.sort(axis)[0]),
    "gather": rows(lambda x: x.gather(1, torch.tensor([[1, 0, 1]] * x.shape[0]))),
    "rows": rows(lambda x: x[torch.tensor([0, x.shape[0] - 1, 0])]),
    "transpose": matrices(lambda x: x.t(), lambda x: True),
    "tril": matrices(lambda x: x.tril(), lambda x: True),
    "pad": matrices(lambda x: F.pad(x, (1, 0), value=0.5), lambda x: x[1] < 4),
    "cat": matrices(lambda a, b: torch.cat([a, b], 0), lambda a, b: a[1] == b[1] and a[0] + b[0] < 6),
    "matmul": matrices(torch.matmul, lambda a, b: a[1] == b[0]),
    "linear": matrices(F.linear, lambda x, w: x[1] == w[1]),
    "attention": matrices(attention, lambda q, k, v: q[1] == k[1] and k[0] == v[0]),
    "layer_norm": rows(layer_norm),
    "layer_norm_affine": affine(lambda x, w, b: layer_norm(x) * w + b),
    "rms_norm": rows(rms),
    "rms_norm_affine": affine(lambda x, w, b: rms(x, w) + b),
    "cross_entropy": rows(lambda x: F.cross_entropy(x, targets(x))),
    "smoothed": rows(lambda x: F.cross_entropy(x, targets(x), label_smoothing=0.1)),
    "mse_loss": same(F.mse_loss),
    "huber_loss": same(F.huber_loss),
    "bce": same(lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid())),
}
