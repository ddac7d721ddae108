"""What make_golden.py has PyTorch train: small language models, and optimizers on given gradients."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from op_cases import causal, ids


class GPT(nn.Module):
    """Token + learned position embeddings, blocks, final norm (Pre-LN only), head tied to the tokens."""

    def __init__(self, pre, vocab=11, context=8, layers=2, heads=2, d=16):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(context, d)
        block = nn.TransformerEncoderLayer(d, heads, 4 * d, 0.0, "gelu", batch_first=True, norm_first=pre)
        self.layers = nn.TransformerEncoder(block, layers, nn.LayerNorm(d) if pre else None)
        for p in self.parameters():
            nn.init.normal_(p, std=0.1) if p.dim() > 1 else None

    def forward(self, x):
        t = x.shape[1]
        return self.layers(self.tok(x) + self.pos(torch.arange(t)), causal(t)) @ self.tok.weight.t()


def training(out):
    for name in "pre", "post":
        model = GPT(name == "pre")
        for key, p in model.named_parameters():
            out[f"{name}/param/{key}"] = p.detach().clone()
        data = ids(11, 4, 9)
        opt = torch.optim.Adam(model.parameters(), lr=1e-2)
        losses = []
        for _ in range(10):
            loss = F.cross_entropy(model(data[:, :-1]).flatten(0, 1), data[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.detach())
        out[f"{name}/data"], out[f"{name}/losses"] = data, torch.stack(losses)


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.1),
    "sgd_dampening": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.3),
    "sgd_nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.02),
    "adam_decay": lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.02, betas=(0.9, 0.95), weight_decay=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.02),
    "rmsprop_momentum": lambda p: torch.optim.RMSprop(p, lr=0.005, alpha=0.9, eps=1e-6, momentum=0.8, weight_decay=0.1),
    "rmsprop_centered": lambda p: torch.optim.RMSprop(p, lr=0.01, alpha=0.95, momentum=0.5, centered=True),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.02),
    "radam_decay": lambda p: torch.optim.RAdam(p, lr=0.02, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
}
PLATEAUS = {
    "min": dict(factor=0.5, patience=2),
    "max": dict(mode="max", factor=0.3, patience=1, threshold=0.05, threshold_mode="abs", cooldown=3, min_lr=1e-3),
    "rel": dict(mode="max", factor=0.7, patience=3, threshold=0.1, eps=1e-3),
}


def trajectories(out):
    """100 steps in f64; gradients are given, with sizes from 1e-4 to 1e2, so that only the rule is compared."""
    torch.manual_seed(1)  # whatever was drawn before
    start = torch.randn(9, dtype=torch.float64)
    grads = torch.randn(100, 9, dtype=torch.float64) * torch.logspace(-4, 2, 9, dtype=torch.float64)
    out["start"], out["grads"] = start, grads
    for name, make in OPTIMIZERS.items():
        p = start.clone().requires_grad_()
        opt, path = make([p]), []
        for g in grads:
            p.grad = g.clone()
            opt.step()
            path.append(p.detach().clone())
        out[name] = torch.stack(path)
    ws = [torch.randn(3, 4), torch.randn(5)]
    for i, w in enumerate(ws):
        w.grad = torch.randn_like(w)
        out[f"clip/before{i}"] = w.grad.clone()
    out["clip/norm"] = nn.utils.clip_grad_norm_(ws, 1.5)
    for i, w in enumerate(ws):
        out[f"clip/after{i}"] = w.grad
    values = torch.randn(40, dtype=torch.float64)
    start = torch.zeros(40, dtype=torch.float64)
    start.grad = values
    start.grad[3] = math.nan
    out["clip_value/before"] = start.grad.clone()
    nn.utils.clip_grad_value_([start], 0.7)
    out["clip_value/after"] = start.grad
    # An average of weights that go the way of "adam".
    model = nn.Linear(9, 1, bias=False).double()
    average = torch.optim.swa_utils.AveragedModel(model, avg_fn=lambda a, p, n: 0.9 * a + (1 - 0.9) * p)
    path = []
    for weights in out["adam"]:
        with torch.no_grad():
            model.weight.copy_(weights[None])
        average.update_parameters(model)
        path.append(average.module.weight.detach()[0].clone())
    out["ema"] = torch.stack(path)
    # Rates of two groups while a metric wanders.
    metric = torch.randn(100, dtype=torch.float64).cumsum(0) * 0.1
    out["plateau/metric"] = metric
    for name, options in PLATEAUS.items():
        opt = torch.optim.SGD([{"params": [torch.zeros(1)]}, {"params": [torch.zeros(1)], "lr": 0.02}], lr=0.5)
        plateau, rates = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, **options), []
        for value in metric:
            plateau.step(value.item())
            rates.append([group["lr"] for group in opt.param_groups])
        out[f"plateau/{name}"] = torch.tensor(rates, dtype=torch.float64)
