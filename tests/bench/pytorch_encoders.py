"""BERT, T5 and the original Transformer: the other cases of transformer_cases.cpp in PyTorch."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from pytorch_gpt import optimizer_step
from pytorch_transformers import RMSNorm


def normal(model, std=0.02):
    for p in model.parameters():
        if p.dim() == 2:
            nn.init.normal_(p, std=std)


# --- BERT -------------------------------------------------------------------------------------------------


class Bert(nn.Module):
    """Base size; Post-LN blocks of PyTorch's own. The head is made for the masked positions only."""

    def __init__(self, vocab=30522, width=768):
        super().__init__()
        self.tokens, self.places, self.types = nn.Embedding(vocab, width), nn.Embedding(512, width), nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        block = nn.TransformerEncoderLayer(width, 12, 4 * width, 0.0, F.gelu, 1e-12, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, 12)
        self.pooler, self.next = nn.Linear(width, width), nn.Linear(width, 2)
        self.dense, self.dense_norm = nn.Linear(width, width), nn.LayerNorm(width, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(vocab))
        normal(self)

    def loss(self, ids, where, targets, next):
        x = self.tokens(ids) + self.places.weight[: ids.shape[1]] + self.types(torch.zeros_like(ids))
        h = self.blocks(self.norm(x))
        masked = self.dense_norm(F.gelu(self.dense(h[where])).float())
        logits = F.linear(masked, self.tokens.weight, self.bias)
        sentence = self.next(torch.tanh(self.pooler(h[:, 0])))
        return F.cross_entropy(logits, targets) + F.cross_entropy(sentence, next)


def bert():
    model = Bert()
    where = torch.zeros(8, 128, dtype=torch.bool)
    where[:, 1:20] = True

    def loss():
        ids, next = torch.randint(30522, (8, 128)), torch.randint(2, (8,))
        return model.loss(ids, where, torch.randint(30522, (8 * 19,)), next)

    return optimizer_step(model, loss)


# --- texts with padding -----------------------------------------------------------------------------------


def texts(vocab, rows, longest, end):
    """Rows ended by `end` and then padded with 0, from longest - 4 to longest long."""
    ids = torch.randint(3, vocab, (rows, longest))
    for row in range(rows):
        length = longest - row % 5
        ids[row, length:] = 0
        ids[row, length - 1] = end
    return ids


def shifted(target, start):
    return F.pad(target[:, :-1], (1, 0), value=start)


# --- the original Transformer -----------------------------------------------------------------------------


class Translator(nn.Module):
    def __init__(self, vocab=10_000, width=512):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        nn.init.normal_(self.tokens.weight, std=width**-0.5)
        self.model = nn.Transformer(width, 8, 6, 6, 2048, 0.0, batch_first=True)
        self.model.encoder.norm = self.model.decoder.norm = None
        angles = torch.outer(torch.arange(512), 10000 ** -(torch.arange(0, width, 2) / width))
        self.register_buffer("waves", torch.stack((angles.sin(), angles.cos()), -1).flatten(1), persistent=False)
        self.scale = math.sqrt(width)

    def embedded(self, ids):
        return self.tokens(ids) * self.scale + self.waves[: ids.shape[1]]

    def loss(self, source, target):
        inputs = shifted(target, 1)
        padding, size = source == 0, target.shape[1]
        future = torch.ones(size, size, dtype=torch.bool).triu(1)
        h = self.model(self.embedded(source), self.embedded(inputs), tgt_mask=future,
                       src_key_padding_mask=padding, memory_key_padding_mask=padding)
        # What is padding needs no head.
        kept = target != 0
        return F.cross_entropy(F.linear(h[kept], self.tokens.weight), target[kept], label_smoothing=0.1)


def translation():
    model, source, target = Translator(), texts(10_000, 80, 25, 2), texts(10_000, 80, 25, 2)
    return optimizer_step(model, lambda: model.loss(source, target))


# --- T5 ---------------------------------------------------------------------------------------------------


class T5Attention(nn.Module):
    def __init__(self, width, heads, head, own_keys):
        super().__init__()
        self.heads, self.inner = heads, heads * head
        self.own_keys = own_keys
        self.q = nn.Linear(width, self.inner * (3 if own_keys else 1), bias=False)
        self.kv = None if own_keys else nn.Linear(width, 2 * self.inner, bias=False)
        self.out = nn.Linear(self.inner, width, bias=False)

    def forward(self, x, memory=None, bias=None):
        if self.own_keys:
            q, k, v = self.q(x).chunk(3, -1)
        else:
            q, (k, v) = self.q(x), self.kv(memory).chunk(2, -1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1)
        if bias is not None:
            scores = scores + bias
        return self.out((torch.softmax(scores, -1) @ v).transpose(1, 2).flatten(2))


class T5Block(nn.Module):
    def __init__(self, width, heads, head, hidden, decoder):
        super().__init__()
        self.norms = nn.ModuleList(RMSNorm(width) for _ in range(3 if decoder else 2))
        self.attend = T5Attention(width, heads, head, True)
        self.cross = T5Attention(width, heads, head, False) if decoder else None
        self.up, self.down = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)

    def forward(self, x, bias, memory=None):
        x = x + self.attend(self.norms[0](x), bias=bias)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory)
        return x + self.down(F.relu(self.up(self.norms[-1](x))))


class T5(nn.Module):
    def __init__(self, vocab=32128, width=512, heads=8, head=64, hidden=2048, layers=6):
        super().__init__()
        self.tokens, self.scale = nn.Embedding(vocab, width), width**-0.5
        block = lambda decoder: T5Block(width, heads, head, hidden, decoder)
        self.encoder = nn.ModuleList(block(False) for _ in range(layers))
        self.decoder = nn.ModuleList(block(True) for _ in range(layers))
        self.biases = nn.ModuleList(nn.Embedding(32, heads) for _ in range(2))
        self.norms = nn.ModuleList(RMSNorm(width) for _ in range(2))
        normal(self)

    def bias(self, i, size):
        distance = torch.arange(size) - torch.arange(size)[:, None]
        buckets, base = (16, (distance > 0) * 16) if i == 0 else (32, 0)
        back = distance.abs() if i == 0 else (-distance).clamp(min=0)
        exact = buckets // 2
        far = exact + (torch.log(back.clamp(min=1) / exact) / math.log(128 / exact) * (buckets - exact)).long()
        bucket = base + torch.where(back < exact, back, far.clamp(max=buckets - 1))
        bias = self.biases[i](bucket).permute(2, 0, 1)
        return bias if i == 0 else bias.masked_fill(distance > 0, -math.inf)

    def loss(self, source, target):
        memory, bias = self.tokens(source), self.bias(0, source.shape[1])
        for block in self.encoder:
            memory = block(memory, bias)
        memory = self.norms[0](memory)
        h, bias = self.tokens(shifted(target, 0)), self.bias(1, target.shape[1])
        for block in self.decoder:
            h = block(h, bias, memory)
        kept = target != 0
        h = self.norms[1](h)[kept] * self.scale
        return F.cross_entropy(F.linear(h, self.tokens.weight), target[kept])


def t5():
    model, source, target = T5(), torch.randint(3, 32128, (8, 128)), texts(32128, 8, 32, 1)
    return optimizer_step(model, lambda: model.loss(source, target))


CASES = {"bert-base": (bert, 1), "t5-small": (t5, 1), "transformer-base": (translation, 1)}
