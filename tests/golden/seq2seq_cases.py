"""Models with an encoder and a decoder, for make_seq2seq.py: nn.Transformer with embeddings around it, and T5 and the
original Transformer as Hugging Face names them (model_type "t5", "marian"), written by hand on dicts of weights."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
SOURCE = torch.tensor([[3, 4, 5, 2, 0], [6, 2, 0, 0, 0], [5, 3, 6, 4, 2]])
TARGET = torch.tensor([[5, 2, 0, 0], [4, 4, 3, 2], [6, 3, 2, 0]])


def renamed(ids, pad, end):
    """The texts above with another padding (0) and end (2)."""
    return torch.where(ids == 0, torch.tensor(pad), torch.where(ids == 2, torch.tensor(end), ids))


def shifted(target, start):
    return torch.cat([torch.full((target.shape[0], 1), start), target[:, :-1]], 1)


def waves(length, C, halves):
    t, i = torch.arange(length).unsqueeze(1).double(), torch.arange(C // 2).double()
    angle = t / 10000 ** (2 * i / C)
    out = torch.zeros(length, C, dtype=torch.float64)
    if halves:
        out[:, : C // 2], out[:, C // 2 :] = torch.sin(angle), torch.cos(angle)
    else:
        out[:, 0::2], out[:, 1::2] = torch.sin(angle), torch.cos(angle)
    return out.to(torch.get_default_dtype())


class Torch(nn.Module):
    """nn.Transformer between embeddings and a tied head."""

    def __init__(self, first):
        super().__init__()
        self.embedding = nn.Embedding(7, 12)
        t = nn.Transformer(12, 3, 2, 2, 20, dropout=0.0, batch_first=True, norm_first=first)
        self.encoder, self.decoder = t.encoder, t.decoder
        for p in self.parameters():
            nn.init.normal_(p, std=0.3)

    def forward(self, source, target_in):
        embedded = lambda ids: self.embedding(ids) * math.sqrt(12) + waves(ids.shape[1], 12, False)
        padding = source == 0
        memory = self.encoder(embedded(source), src_key_padding_mask=padding)
        causal = torch.triu(torch.ones(target_in.shape[1], target_in.shape[1]), 1).bool()
        y = self.decoder(embedded(target_in), memory, tgt_mask=causal, memory_key_padding_mask=padding)
        return F.linear(y, self.embedding.weight)


def attention(x, memory, heads, q, k, v, mask, scale):
    split = lambda y: y.view(y.shape[0], y.shape[1], heads, -1).transpose(1, 2)
    scores = split(q(x)) @ split(k(memory)).transpose(2, 3) * scale + mask
    return (scores.softmax(-1) @ split(v(memory))).transpose(1, 2).flatten(2)


def hidden_keys(padding):
    return torch.zeros(padding.shape).masked_fill(padding, -1e30)[:, None, None, :]


def causal_mask(T):
    return torch.triu(torch.full((T, T), -1e30), 1)


def drawn(name, *shape):
    """Weights by which greedy search writes something."""
    if "norm" in name and not name.endswith("bias"):
        return 1 + 0.3 * torch.randn(*shape)
    return torch.randn(*shape) * (1.0 if "shared" in name else 0.2 if name.endswith("bias") else 0.5)


# ------------------------------------------------------------------------------------------------------------ T5
T5 = dict(vocab_size=11, d_model=8, d_kv=3, d_ff=12, num_heads=2, num_layers=2, num_decoder_layers=3,
          relative_attention_num_buckets=8, relative_attention_max_distance=5, layer_norm_epsilon=1e-6,
          dropout_rate=0.1, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)


def t5_weights(gated):
    c, w = T5, {}
    C, inner, ff = c["d_model"], c["num_heads"] * c["d_kv"], c["d_ff"]
    put = lambda name, *shape: w.__setitem__(name + ".weight", drawn(name, *shape))
    put("shared", c["vocab_size"], C)
    for stack, layers in ("encoder", c["num_layers"]), ("decoder", c["num_decoder_layers"]):
        for i in range(layers):
            at = f"{stack}.block.{i}.layer."
            kinds = ["SelfAttention"] + (["EncDecAttention"] if stack == "decoder" else [])
            for n, kind in enumerate(kinds):
                for p in "qkv":
                    put(f"{at}{n}.{kind}.{p}", inner, C)
                put(f"{at}{n}.{kind}.o", C, inner)
                if i == 0 and n == 0:
                    put(f"{at}{n}.{kind}.relative_attention_bias", c["relative_attention_num_buckets"], c["num_heads"])
                put(f"{at}{n}.layer_norm", C)
            n = len(kinds)
            for p in ["wi_0", "wi_1"] if gated else ["wi"]:
                put(f"{at}{n}.DenseReluDense.{p}", ff, C)
            put(f"{at}{n}.DenseReluDense.wo", C, ff)
            put(f"{at}{n}.layer_norm", C)
        put(f"{stack}.final_layer_norm", C)
    if gated:
        put("lm_head", c["vocab_size"], C)
    return w


def t5_bucket(distance, both):
    """Of key - query, as in the authors' code."""
    n, most = T5["relative_attention_num_buckets"], T5["relative_attention_max_distance"]
    first = 0
    if both:
        n //= 2
        first = n if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(-distance, 0)
    exact = n // 2
    if distance < exact:
        return first + distance
    return first + min(n - 1, exact + int(math.log(distance / exact) / math.log(most / exact) * (n - exact)))


def t5_bias(table, T, both):
    return table[torch.tensor([[t5_bucket(j - i, both) for j in range(T)] for i in range(T)])].permute(2, 0, 1)[None]


def t5_logits(w, gated, source, target_in):
    linear = lambda name: lambda x: F.linear(x, w[name + ".weight"])
    norm = lambda name, x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + T5["layer_norm_epsilon"]) * w[name + ".weight"]

    def attend(at, x, memory, mask):
        return linear(at + ".o")(attention(x, memory, T5["num_heads"], *[linear(f"{at}.{p}") for p in "qkv"], mask, 1.0))

    def ffn(at, x):
        if not gated:
            return linear(at + ".wo")(linear(at + ".wi")(x).relu())
        a = linear(at + ".wi_0")(x)
        gelu = 0.5 * a * (1 + torch.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))
        return linear(at + ".wo")(gelu * linear(at + ".wi_1")(x))

    padding = hidden_keys(source == T5["pad_token_id"])
    bias = lambda stack, T: t5_bias(w[f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"], T, stack == "encoder")
    x = w["shared.weight"][source]
    mask = bias("encoder", source.shape[1]) + padding
    for i in range(T5["num_layers"]):
        at = f"encoder.block.{i}.layer."
        y = norm(at + "0.layer_norm", x)
        x = x + attend(at + "0.SelfAttention", y, y, mask)
        x = x + ffn(at + "1.DenseReluDense", norm(at + "1.layer_norm", x))
    memory = norm("encoder.final_layer_norm", x)
    x = w["shared.weight"][target_in]
    mask = bias("decoder", target_in.shape[1]) + causal_mask(target_in.shape[1])
    for i in range(T5["num_decoder_layers"]):
        at = f"decoder.block.{i}.layer."
        y = norm(at + "0.layer_norm", x)
        x = x + attend(at + "0.SelfAttention", y, y, mask)
        x = x + attend(at + "1.EncDecAttention", norm(at + "1.layer_norm", x), memory, padding)
        x = x + ffn(at + "2.DenseReluDense", norm(at + "2.layer_norm", x))
    x = norm("decoder.final_layer_norm", x)
    return F.linear(x, w["lm_head.weight"]) if gated else F.linear(x * T5["d_model"] ** -0.5, w["shared.weight"])


# -------------------------------------------------------------------------------------------------------- Marian
MARIAN = dict(vocab_size=11, d_model=8, encoder_layers=2, decoder_layers=3, encoder_attention_heads=2,
              decoder_attention_heads=2, encoder_ffn_dim=12, decoder_ffn_dim=12, activation_function="swish",
              scale_embedding=True, normalize_before=False, normalize_embedding=False, static_position_embeddings=True,
              max_position_embeddings=16, dropout=0.1, attention_dropout=0.0, activation_dropout=0.0,
              pad_token_id=10, eos_token_id=0, decoder_start_token_id=10, share_encoder_decoder_embeddings=True,
              tie_word_embeddings=True)


def marian_weights():
    c, w = MARIAN, {}
    C, ff = c["d_model"], c["encoder_ffn_dim"]
    put = lambda name, *shape: w.__setitem__(name, drawn(name, *shape))
    put("model.shared.weight", c["vocab_size"], C)
    put("final_logits_bias", 1, c["vocab_size"])
    for stack in "encoder", "decoder":
        for i in range(c[f"{stack}_layers"]):
            at = f"model.{stack}.layers.{i}."
            layers = {"fc1": (ff, C), "fc2": (C, ff)}
            for attn in ["self_attn"] + (["encoder_attn"] if stack == "decoder" else []):
                layers.update({f"{attn}.{p}_proj": (C, C) for p in ["q", "k", "v", "out"]})
                layers[f"{attn}_layer_norm"] = (C,)
            layers["final_layer_norm"] = (C,)
            for name, shape in layers.items():
                put(f"{at}{name}.weight", *shape)
                put(f"{at}{name}.bias", shape[0])
    return w


def marian_logits(w, source, target_in):
    C = MARIAN["d_model"]
    linear = lambda name: lambda x: F.linear(x, w[name + ".weight"], w[name + ".bias"])
    norm = lambda name, x: F.layer_norm(x, (C,), w[name + ".weight"], w[name + ".bias"])

    def attend(at, x, memory, mask):
        projections = [linear(f"{at}.{p}_proj") for p in "qkv"]
        return linear(at + ".out_proj")(attention(x, memory, 2, *projections, mask, (C // 2) ** -0.5))

    ffn = lambda at, x: linear(at + "fc2")(F.silu(linear(at + "fc1")(x)))
    embedded = lambda ids: w["model.shared.weight"][ids] * math.sqrt(C) + waves(ids.shape[1], C, True)
    padding = hidden_keys(source == MARIAN["pad_token_id"])
    x = embedded(source)
    for i in range(MARIAN["encoder_layers"]):
        at = f"model.encoder.layers.{i}."
        x = norm(at + "self_attn_layer_norm", x + attend(at + "self_attn", x, x, padding))
        x = norm(at + "final_layer_norm", x + ffn(at, x))
    memory, x = x, embedded(target_in)
    for i in range(MARIAN["decoder_layers"]):
        at = f"model.decoder.layers.{i}."
        x = norm(at + "self_attn_layer_norm", x + attend(at + "self_attn", x, x, causal_mask(x.shape[1])))
        x = norm(at + "encoder_attn_layer_norm", x + attend(at + "encoder_attn", x, memory, padding))
        x = norm(at + "final_layer_norm", x + ffn(at, x))
    return F.linear(x, w["model.shared.weight"]) + w["final_logits_bias"]
