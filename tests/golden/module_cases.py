"""What make_golden.py asks PyTorch about modules: (name, module, call, inputs)."""
import torch
import torch.nn as nn

from op_cases import causal, ids, r


def shaken(module):
    """Biases and gains start at 0 and 1: random values show where they act."""
    for p in module.parameters():
        nn.init.normal_(p, std=0.3)
    return module


def module_cases():
    E, H, Fd = 12, 3, 20
    layer = dict(d_model=E, nhead=H, dim_feedforward=Fd, dropout=0.0, batch_first=True)
    mask = causal(5)
    pad = torch.zeros(2, 5, dtype=torch.bool)
    pad[0, 3:] = True
    yield "linear", shaken(nn.Linear(7, 5)), lambda m, x: m(x), [r(2, 3, 7)]
    yield "embedding", shaken(nn.Embedding(7, 5)), lambda m, i: m(i), [ids(7, 2, 6)]
    yield "layer_norm", shaken(nn.LayerNorm(E)), lambda m, x: m(x), [r(2, 3, E)]
    mha = lambda **o: shaken(nn.MultiheadAttention(E, H, batch_first=True, **o))
    yield "mha", mha(), lambda m, x: m(x, x, x)[0], [r(2, 5, E)]
    yield "mha_causal", mha(), lambda m, x: m(x, x, x, attn_mask=mask)[0], [r(2, 5, E)]
    yield "mha_padding", mha(), lambda m, x, p: m(x, x, x, key_padding_mask=p)[0], [r(2, 5, E), pad]
    yield "mha_weights", mha(), lambda m, x: m(x, x, x)[1], [r(2, 5, E)]
    yield "mha_cross", mha(), lambda m, q, kv: m(q, kv, kv)[0], [r(2, 5, E), r(2, 4, E)]
    yield "mha_no_bias", mha(bias=False), lambda m, x: m(x, x, x)[0], [r(2, 5, E)]
    for act in "relu", "gelu":
        yield f"post_block_{act}", shaken(nn.TransformerEncoderLayer(**layer, activation=act)), lambda m, x: m(x), [r(2, 5, E)]
        yield f"pre_block_{act}", shaken(nn.TransformerEncoderLayer(**layer, activation=act, norm_first=True)), lambda m, x: m(x), [r(2, 5, E)]
    yield "pre_block_causal", shaken(nn.TransformerEncoderLayer(**layer, norm_first=True)), lambda m, x: m(x, mask), [r(2, 5, E)]
    yield "post_block_padding", shaken(nn.TransformerEncoderLayer(**layer)), lambda m, x, p: m(x, src_key_padding_mask=p), [r(2, 5, E), pad]
    for name, first in ("post", False), ("pre", True):
        dec = shaken(nn.TransformerDecoderLayer(**layer, norm_first=first))
        yield f"{name}_decoder_block", dec, lambda m, x, mem: m(x, mem, tgt_mask=mask), [r(2, 5, E), r(2, 4, E)]
        stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer, norm_first=first), 2, nn.LayerNorm(E) if first else None)
        yield f"{name}_stack", shaken(stack), lambda m, x: m(x), [r(2, 5, E)]


class OverPositions(nn.BatchNorm1d):
    """Tokens [B, T, C] instead of [B, C, T]."""

    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


def batch_norm_block(norm_first, trained):
    """Trained: in eval mode, with running statistics of some training."""
    block = nn.TransformerEncoderLayer(12, 3, 20, dropout=0.0, batch_first=True, norm_first=norm_first)
    block.norm1, block.norm2 = OverPositions(12), OverPositions(12)
    if trained:
        block.eval()
        for norm in block.norm1, block.norm2:
            nn.init.normal_(norm.running_mean)
            nn.init.uniform_(norm.running_var, 0.5, 2)
    return shaken(block)


def layer_cases():
    """Layers of small programs. Running statistics are in the cases' parameters, as they are after the call."""
    yield "group_norm", shaken(nn.GroupNorm(2, 6)), lambda m, x: m(x), [r(3, 6, 4)]
    yield "batch_norm_1d", shaken(nn.BatchNorm1d(4)), lambda m, x: m(x), [r(6, 4)]
    yield "batch_norm_2d", shaken(nn.BatchNorm2d(4)), lambda m, x: m(x), [r(3, 4, 2, 5)]
    yield "batch_norm_eval", shaken(nn.BatchNorm1d(4)).eval(), lambda m, x: m(x), [r(6, 4, 3)]
    for name, kind in ("gru", nn.GRU), ("lstm", nn.LSTM):
        yield name, shaken(kind(5, 4, batch_first=True)), lambda m, x: m(x)[0], [r(2, 6, 5)]
        yield f"{name}_layers", shaken(kind(5, 4, num_layers=3, batch_first=True)), lambda m, x: m(x)[0], [r(2, 6, 5)]
        yield f"{name}_no_bias", shaken(kind(5, 4, bias=False, batch_first=True)), lambda m, x: m(x)[0], [r(2, 3, 5)]
    yield "gru_state", shaken(nn.GRU(5, 4, num_layers=2, batch_first=True)), lambda m, x, h: m(x, h)[1], [r(3, 4, 5), r(2, 3, 4)]
    yield "lstm_state", shaken(nn.LSTM(5, 4, num_layers=2, batch_first=True)), lambda m, x, h, c: torch.stack(m(x, (h, c))[1]), [r(3, 4, 5), r(2, 3, 4), r(2, 3, 4)]
    yield "conv1d", shaken(nn.Conv1d(3, 4, 3)), lambda m, x: m(x), [r(2, 3, 8)]
    yield "conv1d_steps", shaken(nn.Conv1d(3, 4, 2, stride=3, padding=2, bias=False)), lambda m, x: m(x), [r(2, 3, 7)]
    yield "conv2d", shaken(nn.Conv2d(2, 3, 3, padding=1)), lambda m, x: m(x), [r(2, 2, 5, 4)]
    yield "conv2d_steps", shaken(nn.Conv2d(2, 3, (2, 3), stride=(3, 1), padding=(0, 2))), lambda m, x: m(x), [r(2, 2, 7, 4)]
    yield "max_pool1d", nn.MaxPool1d(3), lambda m, x: m(x), [ids(4, 2, 3, 8).float()]
    yield "max_pool2d", nn.MaxPool2d((2, 3), stride=(1, 2)), lambda m, x: m(x), [ids(4, 2, 3, 5, 7).float()]
    yield "avg_pool1d", nn.AvgPool1d(3, stride=2), lambda m, x: m(x), [r(2, 3, 8)]
    yield "avg_pool2d", nn.AvgPool2d(2), lambda m, x: m(x), [r(2, 3, 5, 6)]
    padded = nn.Embedding(7, 5, padding_idx=2)
    yield "embedding_padding", padded, lambda m, i: m(i), [ids(7, 2, 9)]
    for name, first in ("pre", True), ("post", False):
        yield f"batch_norm_{name}_block", batch_norm_block(first, False), lambda m, x: m(x), [r(3, 5, 12)]
        yield f"batch_norm_{name}_block_eval", batch_norm_block(first, True), lambda m, x: m(x), [r(3, 5, 12)]
