"""GPT-2 in PyTorch, with a cache of keys and values, and what the cases of several files need."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from pytorch_precision import products

GPT2 = dict(vocab=50257, context=1024, layers=12, heads=12, d_model=768)
SMALL = dict(vocab=65, context=64, layers=4, heads=4, d_model=128)


class Block(nn.Module):
    """A Pre-LN block of GPT-2; attention is written out, as PyTorch 1.13 has no public fused op."""

    def __init__(self, d_model, heads, context):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.up, self.down = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)
        future = torch.ones(context, context, dtype=torch.bool).triu(1)
        self.register_buffer("future", future, persistent=False)

    def attend(self, x, kept):
        batch, tokens, width = x.shape
        shape = (batch, tokens, self.heads, width // self.heads)
        q, k, v = (part.view(shape).transpose(1, 2) for part in self.qkv(x).split(width, -1))
        if kept is not None:
            k, v = kept.append(k, v)
        seen = k.shape[2]
        y = attention(q, k, v, self.future[seen - tokens : seen, :seen])
        return self.out(y.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x, kept=None):
        h = x + self.attend(self.norm1(x), kept)
        return h + self.down(F.gelu(self.up(self.norm2(h))))


class Kept:
    """Keys and values of the tokens a block has seen."""

    def __init__(self, heads, context, width, batch=1, dtype=torch.float32):
        self.k, self.v = torch.zeros(2, batch, heads, context, width // heads, dtype=dtype)
        self.length = 0

    def append(self, k, v):
        start, self.length = self.length, self.length + k.shape[2]
        self.k[:, :, start : self.length], self.v[:, :, start : self.length] = k, v
        return self.k[:, :, : self.length], self.v[:, :, : self.length]

    def choose(self, rows):
        """Goes on from these rows of the batch."""
        for x in self.k, self.v:
            x[:, :, : self.length] = x[rows, :, : self.length]


class GPT(nn.Module):
    def __init__(self, vocab, context, layers, heads, d_model):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocab, d_model), nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(Block(d_model, heads, context) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def hidden(self, ids, kept):
        start = kept[0].length if kept else 0
        x = self.tokens(ids) + self.places(torch.arange(start, start + ids.shape[1]))
        for i, block in enumerate(self.blocks):
            x = block(x, kept[i] if kept else None)
        return self.norm(x)

    def loss(self, ids, targets):
        logits = F.linear(self.hidden(ids, None), self.tokens.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def next_logits(self, ids, kept):
        return F.linear(self.hidden(ids, kept)[:, -1], self.tokens.weight)


def attention(q, k, v, hidden):
    # Scaling q, the smaller, is faster than scaling the scores.
    scores = q * (1 / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)
    return torch.softmax(scores.masked_fill(hidden, -math.inf), -1) @ v


def optimizer_step(model, loss):
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95), weight_decay=0.1)

    def step():
        with products():
            value = loss()
        value.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)

    return step


def training_step(model, vocab, batch, tokens):
    return optimizer_step(model, lambda: model.loss(*torch.randint(vocab, (2, batch, tokens))))
