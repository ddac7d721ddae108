"""The cases of transformer_cases.cpp in PyTorch, for pytorch_cases.py."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from pytorch_gpt import GPT, GPT2, Kept, attention, training_step
from pytorch_precision import products, stored

# --- Llama ------------------------------------------------------------------------------------------------


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


def turned(x, cos, sin):
    """Rotary positions: the halves of each head's channels are pairs."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class LlamaBlock(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden, context):
        super().__init__()
        self.heads, self.kv_heads, self.head = heads, kv_heads, width // heads
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.qkv = nn.Linear(width, (heads + 2 * kv_heads) * self.head, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate_up, self.down = nn.Linear(width, 2 * hidden, bias=False), nn.Linear(hidden, width, bias=False)
        angles = torch.outer(torch.arange(context), 10000 ** -(torch.arange(0, self.head, 2) / self.head))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        self.register_buffer("future", torch.ones(context, context, dtype=torch.bool).triu(1), persistent=False)

    def attend(self, x):
        batch, tokens, width = x.shape
        parts = self.qkv(x).view(batch, tokens, -1, self.head).transpose(1, 2)
        q, k, v = parts.split((self.heads, self.kv_heads, self.kv_heads), 1)
        cos, sin = self.cos[:tokens], self.sin[:tokens]
        q, k = turned(q, cos, sin), turned(k, cos, sin)
        # A group of queries is more rows for its keys: nothing is copied.
        group = self.heads // self.kv_heads
        q = q.view(batch, self.kv_heads, group, tokens, self.head)
        y = attention(q, k.unsqueeze(2), v.unsqueeze(2), self.future[:tokens, :tokens])
        return self.out(y.flatten(1, 2).transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x):
        h = x + self.attend(self.norm1(x))
        gate, up = self.gate_up(self.norm2(h)).chunk(2, -1)
        return h + self.down(F.silu(gate) * up)


class Llama(nn.Module):
    def __init__(self, vocab, context, layers, width, heads, kv_heads, hidden):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.blocks = nn.Sequential(*(LlamaBlock(width, heads, kv_heads, hidden, context) for _ in range(layers)))
        self.norm = RMSNorm(width)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def loss(self, ids, targets):
        logits = F.linear(self.norm(self.blocks(self.tokens(ids))), self.tokens.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def llama():
    return training_step(Llama(32000, 256, 6, 288, 6, 2, 768), 32000, 4, 256)


# --- attention in a window --------------------------------------------------------------------------------


def banded(q, k, v, window):
    """Blocks of `window` queries see their own block of keys and the one before: T x 2 window scores."""
    heads, tokens, head = q.shape
    blocks = tokens // window

    def with_block_before(x):
        x = F.pad(x, (0, 0, window, 0)).view(heads, blocks + 1, window, head)
        return torch.cat((x[:, :-1], x[:, 1:]), 2)

    row, column = torch.arange(window)[:, None], torch.arange(2 * window)
    seen = (column > row) & (column <= row + window)
    hidden = ~seen.expand(blocks, window, 2 * window).clone()
    hidden[0, :, :window] = True
    q = q.view(heads, blocks, window, head)
    return attention(q, with_block_before(k), with_block_before(v), hidden).view(heads, tokens, head)


def banded_8192():
    qkv = [torch.randn(8, 8192, 64, requires_grad=True) for _ in range(3)]
    dy = torch.randn(8, 8192, 64)

    def step():
        for x in qkv:
            x.grad = None
        with products():
            y = banded(*qkv, 256)
        y.backward(dy.to(y.dtype))

    return step


# --- beam search ------------------------------------------------------------------------------------------


def beam_4():
    model = stored(GPT(**GPT2))
    vocab, heads, width, beams, count = GPT2["vocab"], GPT2["heads"], GPT2["d_model"], 4, 32
    prompt = torch.randint(vocab, (1, 64))

    @torch.inference_mode()
    def step():
        kept = [Kept(heads, 64 + count, width, beams, model.norm.weight.dtype) for _ in model.blocks]
        logits = model.next_logits(prompt.expand(beams, -1), kept)
        scores, tokens = torch.log_softmax(logits[0], -1).topk(beams)
        found = tokens[:, None]
        for _ in range(count - 1):
            logits = model.next_logits(tokens[:, None], kept)
            scores, best = (scores[:, None] + torch.log_softmax(logits, -1)).flatten().topk(beams)
            parents, tokens = best // vocab, best % vocab
            found = torch.cat((found[parents], tokens[:, None]), 1)
            if not torch.equal(parents, torch.arange(beams)):
                for block in kept:
                    block.choose(parents)

    return step


CASES = {"llama-tiny": (llama, 1), "banded-8192": (banded_8192, 1), "beam-4": (beam_4, 1)}
