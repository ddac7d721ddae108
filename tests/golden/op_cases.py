"""What make_golden.py asks PyTorch about ops: (name, function, inputs)."""
import math
import torch
import torch.nn.functional as F


def r(*shape):
    return torch.randn(*shape)


def pos(*shape):
    return torch.rand(*shape) + 0.3


def ids(high, *shape):
    return torch.randint(0, high, shape)


def causal(t):
    return torch.ones(t, t).triu(1).bool()


def attend(q, k, v, mask=None, is_causal=False, scale=None):
    s = q @ k.transpose(-2, -1) * (scale or q.shape[-1] ** -0.5)
    if is_causal:
        s = s.masked_fill(torch.ones(q.shape[-2], k.shape[-2]).triu(1 + k.shape[-2] - q.shape[-2]).bool(), -math.inf)
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else s + mask
    return s.softmax(-1) @ v


def scatter(x, index, source):
    return x.scatter_add(1, index, source)


def op_cases():
    """(name, function, inputs); the same name and function stand in ops_test.cpp."""
    keep = torch.rand(5, 6) > 0.4
    keep[:, 0] = True
    yield "add", lambda a, b: a + b, [r(3, 1, 5), r(4, 1)]
    yield "sub", lambda a, b: a - b, [r(3, 4), r(4)]
    yield "mul", lambda a, b: a * b, [r(2, 3, 4), r(3, 1)]
    yield "div", lambda a, b: a / b, [r(3, 4), pos(1, 4)]
    yield "add_scalar", lambda a: a + 2.5, [r(3, 4)]
    yield "rsub_scalar", lambda a: 1.5 - a, [r(3, 4)]
    yield "rdiv_scalar", lambda a: 2.0 / a, [pos(3, 4)]
    yield "pow_scalar", lambda a: a.pow(2.5), [pos(7)]
    yield "pow", lambda a, b: a.pow(b), [pos(3, 4), r(4)]
    yield "maximum", lambda a, b: torch.maximum(a, b), [r(5, 6), r(6)]
    yield "minimum", lambda a, b: torch.minimum(a, b), [r(5, 6), r(5, 1)]
    yield "where", lambda c, a, b: torch.where(c, a, b), [r(4, 5) > 0, r(4, 5), r(5)]
    yield "masked_fill", lambda x, m: x.masked_fill(m, -3.0), [r(2, 4, 5), r(4, 5) > 0]
    yield "clamp", lambda x: x.clamp(-0.5, 0.8), [r(40)]
    for name in "neg abs square exp sin cos tanh sigmoid relu erf".split():
        yield name, getattr(torch, name), [r(6, 7)]
    for name in "sqrt rsqrt log log1p".split():
        yield name, getattr(torch, name), [pos(6, 7)]
    yield "silu", F.silu, [r(6, 7) * 3]
    yield "gelu", F.gelu, [r(6, 7) * 3]
    yield "gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), [r(6, 7) * 3]
    yield "sum", lambda x: x.sum(), [r(3, 4, 5)]
    yield "sum_axes", lambda x: x.sum((0, 2)), [r(3, 4, 5)]
    yield "sum_keepdim", lambda x: x.sum(-1, keepdim=True), [r(3, 4, 5)]
    yield "mean", lambda x: x.mean((1,)), [r(3, 4, 5)]
    yield "var", lambda x: x.var(-1), [r(3, 9)]
    yield "var_biased", lambda x: x.var((0, 2), unbiased=False, keepdim=True), [r(3, 4, 5)]
    yield "max", lambda x: x.amax(1), [r(3, 9)]
    yield "min", lambda x: x.amin((0, 1)), [r(3, 4, 5)]
    yield "argmax", lambda x: x.argmax(1), [r(3, 9)]
    yield "argmin", lambda x: x.argmin(), [r(3, 9)]
    yield "norm", lambda x: x.norm(dim=(-1,)), [r(3, 9)]
    yield "logsumexp", lambda x: x.logsumexp((0, 2)), [r(3, 4, 5)]
    yield "cumsum", lambda x: x.cumsum(1), [r(3, 5, 2)]
    yield "matmul_2d", torch.matmul, [r(5, 7), r(7, 3)]
    yield "matmul_transposed", lambda a, b: a.t() @ b.t(), [r(7, 5), r(3, 7)]
    yield "matmul_vector", torch.matmul, [r(4, 7), r(7)]
    yield "matmul_dot", torch.matmul, [r(7), r(7)]
    yield "matmul_batched", torch.matmul, [r(2, 1, 3, 4), r(5, 4, 6)]
    yield "linear", F.linear, [r(2, 3, 7), r(5, 7), r(5)]
    yield "outer", torch.outer, [r(4), r(6)]
    yield "reshape", lambda x: x.transpose(0, 1).reshape(2, 6), [r(3, 4)]
    yield "permute", lambda x: x.permute(2, 0, 1), [r(2, 3, 4)]
    yield "transpose", lambda x: x.transpose(0, -1), [r(2, 3, 4)]
    yield "squeeze", lambda x: x.squeeze(1), [r(2, 1, 4)]
    yield "unsqueeze", lambda x: x.unsqueeze(1), [r(2, 4)]
    yield "expand", lambda x: x.expand(3, 2, 4), [r(2, 1)]
    yield "flatten", lambda x: x.flatten(1), [r(2, 3, 4)]
    yield "select", lambda x: x.select(1, -1), [r(2, 3, 4)]
    yield "slice", lambda x: x[:, 1:7:2], [r(2, 8, 3)]
    yield "cat", lambda a, b: torch.cat([a, b], 1), [r(2, 3), r(2, 5)]
    yield "stack", lambda a, b: torch.stack([a, b], -1), [r(2, 3), r(2, 3)]
    yield "split", lambda x: x.split([2, 5], 1)[1], [r(2, 7)]
    yield "chunk", lambda x: x.chunk(3, 1)[2], [r(2, 7)]
    yield "flip", lambda x: x.flip((0, 2)), [r(2, 3, 4)]
    yield "roll", lambda x: x.roll(2, 1), [r(2, 5)]
    yield "gather", lambda x, i: x.gather(1, i), [r(3, 5), ids(5, 3, 4)]
    yield "scatter_add", scatter, [r(3, 5), ids(5, 3, 4), r(3, 4)]
    yield "index_select", lambda x, i: x.index_select(1, i), [r(2, 5, 3), ids(5, 7)]
    yield "embedding", lambda i, w: F.embedding(i, w), [ids(6, 2, 5), r(6, 3)]
    yield "tril", lambda x: x.tril(-1), [r(2, 5, 5)]
    yield "triu", lambda x: x.triu(1), [r(4, 5)]
    yield "one_hot", lambda i: F.one_hot(i, 6), [ids(6, 2, 3)]
    yield "topk", lambda x: x.topk(3, -1)[0], [r(4, 9)]
    yield "sort", lambda x: x.sort(1, descending=True)[0], [r(4, 9)]
    yield "softmax", lambda x: x.softmax(-1), [r(2, 3, 9) * 3]
    yield "softmax_axis0", lambda x: x.softmax(0), [r(5, 4)]
    yield "log_softmax", lambda x: x.log_softmax(-1), [r(2, 3, 9) * 3]
    yield "layer_norm", lambda x, w, b: F.layer_norm(x, (13,), w, b), [r(2, 3, 13), r(13), r(13)]
    yield "layer_norm_plain", lambda x: F.layer_norm(x, (13,)), [r(4, 13) * 3 + 1]
    yield "rms_norm", lambda x, w: x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w, [r(2, 3, 13), r(13)]
    q, k, v = r(2, 3, 5, 4), r(2, 3, 6, 4), r(2, 3, 6, 7)
    yield "attention", attend, [q, k, v]
    yield "attention_causal", lambda q, k, v: attend(q, k, v, is_causal=True), [q, k, v]
    yield "attention_mask", lambda q, k, v, m: attend(q, k, v, m), [q, k, v, keep]
    yield "attention_bias", lambda q, k, v, m: attend(q, k, v, m), [q, k, v, r(3, 5, 6)]
    yield "cross_entropy", F.cross_entropy, [r(6, 9), ids(9, 6)]
    t = ids(9, 6)
    t[2] = -100
    yield "cross_entropy_smooth", lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), [r(6, 9), t]
    yield "cross_entropy_sum", lambda x, t: F.cross_entropy(x, t, reduction="sum"), [r(6, 9), t]
    yield "cross_entropy_none", lambda x, t: F.cross_entropy(x, t, reduction="none"), [r(6, 9), t]
    yield "nll_loss", lambda x, t: F.nll_loss(x, t), [r(6, 9).log_softmax(-1), t]
    yield "mse_loss", F.mse_loss, [r(4, 5), r(4, 5)]
    yield "bce_logits", lambda x, y: F.binary_cross_entropy_with_logits(x, y.detach()), [r(4, 5) * 4, torch.rand(4, 5)]


def shape_cases():
    """The same for shapes.safetensors and shapes_test.cpp."""
    yield "unfold", lambda x: x.unfold(1, 3, 2), [r(2, 8, 3)]
    yield "unfold_twice", lambda x: x.unfold(2, 3, 1).unfold(3, 2, 2), [r(2, 2, 5, 6)]
    yield "pad", lambda x: F.pad(x, (1, 2, -1, 1), value=0.5), [r(2, 3, 4)]
    yield "pad_reflect", lambda x: F.pad(x, (2, 1, 1, 0), mode="reflect"), [r(1, 2, 3, 4)]
    yield "pad_replicate", lambda x: F.pad(x, (2, 5), mode="replicate"), [r(2, 3, 4)]
    yield "mask", lambda x, m: x[m], [r(4, 5, 2), r(4, 5) > 0]
    yield "indices", lambda x, i: x[i], [r(5, 3), ids(10, 2, 4) - 5]
    yield "masked_select", torch.masked_select, [r(4, 1, 3), r(5, 1) > 0]
    yield "nonzero", torch.nonzero, [ids(3, 3, 4, 2)]
    yield "repeat", lambda x: x.repeat(2, 1, 3), [r(3, 2)]
    yield "repeat_interleave", lambda x: x.repeat_interleave(3, 1), [r(2, 3, 2)]
    yield "repeat_interleave_counts", lambda x, c: x.repeat_interleave(c, 0), [r(4, 2), torch.tensor([2, 0, 1, 3])]
    yield "unbind", lambda x: x.unbind(1)[2], [r(2, 4, 3)]
    yield "scatter", lambda x, i, y: x.scatter(1, i, y), [r(3, 5), torch.rand(3, 5).argsort(1)[:, :3], r(3, 3)]
    yield "scatter_value", lambda x, i: x.scatter(0, i, 1.5), [r(4, 3), ids(4, 2, 3)]
    yield "index_add", lambda x, i, y: x.index_add(1, i, y), [r(2, 4, 3), ids(4, 6), r(2, 6, 3)]
    yield "einsum_heads", lambda q, k: torch.einsum("bhqd,bhkd->bhqk", q, k), [r(2, 3, 4, 5), r(2, 3, 6, 5)]
    yield "einsum_three", lambda x, m, y: torch.einsum("bn,anm,bm->ba", x, m, y), [r(3, 2), r(4, 2, 5), r(3, 5)]
    yield "einsum_diagonal", lambda x, y: torch.einsum("ii...,i->...i", x, y), [r(3, 3, 2), r(3)]
    yield "einsum_implicit", lambda x, y: torch.einsum("ba,cb", x, y), [r(2, 3), r(4, 2)]
    yield "normalize", lambda x: F.normalize(x, 2, -1), [r(3, 5)]
    yield "normalize_1", lambda x: F.normalize(x, 1, 0), [r(3, 5)]
    yield "normalize_inf", lambda x: F.normalize(x, math.inf, 1), [r(3, 5)]
    yield "cosine_similarity", lambda a, b: F.cosine_similarity(a, b, -1), [r(3, 1, 5), r(4, 5)]


def weigh(loss, **options):
    """A loss whose third input is the weights of classes, which get no gradient."""
    return lambda x, t, w: loss(x, t, weight=w.detach(), **options)


def pointwise_cases():
    """Elementwise ops, reductions and losses of pointwise_test.cpp; seeded apart from the others."""
    for name in "log2 expm1 reciprocal sign floor ceil round isnan isinf isfinite".split():
        yield name, getattr(torch, name), [pos(6, 7) if name in ("log2", "reciprocal") else r(6, 7) * 3]
    yield "leaky_relu", lambda x: F.leaky_relu(x, 0.2), [r(6, 7)]
    yield "softplus", lambda x: F.softplus(x, beta=2), [r(6, 7) * 3]
    yield "clamp_low", lambda x: x.clamp(min=-0.3), [r(40)]
    yield "clamp_high", lambda x: x.clamp(max=0.3), [r(40)]
    n, d = torch.randint(-30, 30, (5, 8)), torch.tensor([-7, -3, -2, -1, 1, 2, 3, 7])
    yield "floor_divide_integers", lambda a, b: a // b, [n, d]
    yield "remainder_integers", lambda a, b: a % b, [n, d]
    yield "floor_divide", lambda a, b: torch.floor_divide(a.detach(), b.detach()), [r(5, 8) * 9, r(8)]
    yield "remainder", torch.remainder, [r(5, 8) * 9, r(8) + torch.tensor([2.0, -2.0] * 4)]
    yield "remainder_number", lambda a: torch.remainder(a, -1.5), [r(5, 8) * 9]
    yield "std", lambda x: x.std(-1), [r(3, 9)]
    yield "std_biased", lambda x: x.std((0, 2), unbiased=False, keepdim=True), [r(3, 4, 5)]
    yield "prod", lambda x: x.prod(), [r(9)]
    zeros = r(4, 5)
    zeros[0, 2] = zeros[1, 1] = zeros[1, 3] = 0
    yield "prod_axis", lambda x: x.prod(1, keepdim=True), [zeros]
    truth = torch.randint(0, 2, (5, 3)) * torch.randint(0, 5, (5, 3))
    yield "all", lambda x: x.all(1), [truth != 0]
    yield "any", lambda x: x.any(0, keepdim=True), [truth != 0]
    ties = torch.randint(0, 3, (6, 5)).float()
    yield "max_with_indices", lambda x: x.max(1)[0], [ties]
    yield "max_indices", lambda x: x.max(1, keepdim=True)[1], [ties]
    yield "min_with_indices", lambda x: x.min(0)[0], [ties]
    yield "min_indices", lambda x: x.min(0)[1], [ties]
    for reduction in "mean", "sum", "none":
        yield f"l1_loss_{reduction}", lambda x, y: F.l1_loss(x, y, reduction=reduction), [r(4, 5), r(4, 5)]
        yield f"huber_loss_{reduction}", lambda x, y: F.huber_loss(x, y, reduction=reduction, delta=0.8), [r(4, 5), r(4, 5)]
        yield f"kl_div_{reduction}", lambda x, y: F.kl_div(x, y, reduction=reduction), [r(4, 5).log_softmax(-1), torch.rand(4, 5)]
        yield f"kl_div_log_{reduction}", lambda x, y: F.kl_div(x, y, reduction=reduction, log_target=True), [r(4, 5), r(4, 5)]
        t = ids(9, 6)
        t[2] = 4
        options = dict(reduction=reduction, ignore_index=4)
        yield f"nll_weighted_{reduction}", weigh(F.nll_loss, **options), [r(6, 9).log_softmax(-1), t, pos(9)]
        for smooth in 0, 0.2:
            name, options["label_smoothing"] = "smooth" if smooth else "plain", smooth
            yield f"ce_weighted_{name}_{reduction}", weigh(F.cross_entropy, **options), [r(6, 9), t, pos(9)]
            soft = dict(reduction=reduction, label_smoothing=smooth)
            yield f"ce_soft_{name}_{reduction}", lambda x, p: F.cross_entropy(x, p, **soft), [r(6, 9), torch.rand(6, 9)]
            yield f"ce_soft_weighted_{name}_{reduction}", weigh(F.cross_entropy, **soft), [r(6, 9), torch.rand(6, 9), pos(9)]
    yield "kl_div_batchmean", lambda x, y: F.kl_div(x, y, reduction="batchmean"), [r(4, 5).log_softmax(-1), torch.rand(4, 5)]
