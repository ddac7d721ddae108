#!/usr/bin/python3
"""Writes folders as Hugging Face lays them out, pretrained/<name>/, with small models of random weights, and what
PyTorch computes with each: pretrained/<name>/expected.safetensors has ids, logits, loss, greedy (a text begun with
ids[0, :3]) and grad/<tensor>.

    python3 tests/golden/make_pretrained.py    (needs PyTorch; the committed files were made with 1.13.1)

Each model is a function of its weights by their names in files, written from its paper and config.json.
"""
import json, math, os, struct
import torch
import torch.nn.functional as F

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pretrained")
TYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64", torch.bool: "BOOL",
         torch.uint8: "U8"}


# ---------------------------------------------------------------- models: w[name], config c, ids [B, T] -> logits

def gelu_tanh(x):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def attend(q, k, v, heads, kv_heads, scale, window=None):
    """q [B, T, heads D], k and v [B, T, kv_heads D]; position i sees i - window + 1 .. i."""
    b, t, _ = q.shape
    split = lambda x, n: x.view(b, t, n, -1).transpose(1, 2)
    q, k, v = split(q, heads), split(k, kv_heads), split(v, kv_heads)
    k, v = (x.repeat_interleave(heads // kv_heads, 1) for x in (k, v))
    distance = torch.arange(t)[:, None] - torch.arange(t)[None]
    hidden = (distance < 0) | (distance >= (window or t))
    weights = ((q @ k.transpose(-1, -2)) * scale).masked_fill(hidden, -math.inf).softmax(-1)
    return (weights @ v).transpose(1, 2).reshape(b, t, -1)


def norm(w, name, x, eps):
    return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], eps)


def conv1d(w, name, x):
    return x @ w[name + ".weight"] + w[name + ".bias"]


def gpt2(w, c, ids):
    x = w["wte.weight"][ids] + w["wpe.weight"][: ids.shape[1]]
    for i in range(c["n_layer"]):
        h = f"h.{i}."
        q, k, v = conv1d(w, h + "attn.c_attn", norm(w, h + "ln_1", x, c["layer_norm_epsilon"])).chunk(3, -1)
        d = c["n_embd"] // c["n_head"]
        x = x + conv1d(w, h + "attn.c_proj", attend(q, k, v, c["n_head"], c["n_head"], d**-0.5))
        y = gelu_tanh(conv1d(w, h + "mlp.c_fc", norm(w, h + "ln_2", x, c["layer_norm_epsilon"])))
        x = x + conv1d(w, h + "mlp.c_proj", y)
    return norm(w, "ln_f", x, c["layer_norm_epsilon"]) @ w["wte.weight"].t()


def gpt1(w, c, ids):
    w = {k.replace("transformer.", ""): v for k, v in w.items()}
    x = w["tokens_embed.weight"][ids] + w["positions_embed.weight"][: ids.shape[1]]
    for i in range(c["n_layer"]):
        h, eps = f"h.{i}.", c["layer_norm_epsilon"]
        q, k, v = conv1d(w, h + "attn.c_attn", x).chunk(3, -1)
        d = c["n_embd"] // c["n_head"]
        x = norm(w, h + "ln_1", x + conv1d(w, h + "attn.c_proj", attend(q, k, v, c["n_head"], c["n_head"], d**-0.5)), eps)
        x = norm(w, h + "ln_2", x + conv1d(w, h + "mlp.c_proj", gelu_tanh(conv1d(w, h + "mlp.c_fc", x))), eps)
    return x @ w["tokens_embed.weight"].t()


def gpt_neo(w, c, ids):
    w = {k.replace("transformer.", ""): v for k, v in w.items()}
    eps, heads = c["layer_norm_epsilon"], c["num_heads"]
    linear = lambda name, x: F.linear(x, w[name + ".weight"], w.get(name + ".bias"))
    x = w["wte.weight"][ids] + w["wpe.weight"][: ids.shape[1]]
    for i, kind in enumerate(sum((part * n for part, n in c["attention_types"]), [])):
        h = f"h.{i}."
        y = norm(w, h + "ln_1", x, eps)
        q, k, v = (linear(f"{h}attn.attention.{p}_proj", y) for p in "qkv")
        window = c["window_size"] if kind == "local" else None
        x = x + linear(h + "attn.attention.out_proj", attend(q, k, v, heads, heads, 1, window))
        x = x + linear(h + "mlp.c_proj", gelu_tanh(linear(h + "mlp.c_fc", norm(w, h + "ln_2", x, eps))))
    return norm(w, "ln_f", x, eps) @ w["wte.weight"].t()


def rms(w, name, x, eps):
    return x * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * w[name + ".weight"]


def rotated(x, heads, base):
    """Channel i of each head turns with channel i + D / 2."""
    b, t, c = x.shape
    x = x.view(b, t, heads, c // heads)
    half = c // heads // 2
    angle = torch.arange(t)[:, None] * base ** (-torch.arange(half) / half)
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]
    left, right = x[..., :half], x[..., half:]
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1).reshape(b, t, c)


def llama(w, c, ids):
    eps, heads, kv = c["rms_norm_eps"], c["num_attention_heads"], c["num_key_value_heads"]
    d = c.get("head_dim") or c["hidden_size"] // heads
    linear = lambda name, x: F.linear(x, w[name + ".weight"], w.get(name + ".bias"))
    x = w["model.embed_tokens.weight"][ids]
    for i in range(c["num_hidden_layers"]):
        h = f"model.layers.{i}."
        y = rms(w, h + "input_layernorm", x, eps)
        q, k, v = (linear(f"{h}self_attn.{p}_proj", y) for p in "qkv")
        q, k = rotated(q, heads, c["rope_theta"]), rotated(k, kv, c["rope_theta"])
        x = x + linear(h + "self_attn.o_proj", attend(q, k, v, heads, kv, d**-0.5, c.get("sliding_window")))
        y = rms(w, h + "post_attention_layernorm", x, eps)
        x = x + linear(h + "mlp.down_proj", F.silu(linear(h + "mlp.gate_proj", y)) * linear(h + "mlp.up_proj", y))
    x = rms(w, "model.norm", x, eps)
    return x @ w["model.embed_tokens.weight" if c["tie_word_embeddings"] else "lm_head.weight"].t()


# ------------------------------------------------------------------------------------------ their weights

def weights_of(shapes):
    def std(name, rank):  # large embeddings, so that greedy text does not repeat one token
        return 0.1 if rank == 1 else 1 if "wpe" in name or "embed" in name else 0.5

    return {k: torch.randn(s) * std(k, len(s)) + (1 if len(s) == 1 and k.endswith("weight") else 0)
            for k, s in shapes.items()}


def layer_norms(names, d):
    return {f"{n}.{p}": (d,) for n in names for p in ("weight", "bias")}


def conv1d_shapes(h, d, ff):
    s = {h + "attn.c_attn.weight": (d, 3 * d), h + "attn.c_attn.bias": (3 * d,), h + "attn.c_proj.weight": (d, d),
         h + "attn.c_proj.bias": (d,), h + "mlp.c_fc.weight": (d, ff), h + "mlp.c_fc.bias": (ff,),
         h + "mlp.c_proj.weight": (ff, d), h + "mlp.c_proj.bias": (d,)}
    return {**s, **layer_norms([h + "ln_1", h + "ln_2"], d)}


def gpt2_shapes(c):
    d, s = c["n_embd"], {"wte.weight": (c["vocab_size"], c["n_embd"]), "wpe.weight": (c["n_positions"], c["n_embd"])}
    for i in range(c["n_layer"]):
        s.update(conv1d_shapes(f"h.{i}.", d, c.get("n_inner") or 4 * d))
    return {**s, **layer_norms(["ln_f"], d)}


def gpt1_shapes(c):
    d, t = c["n_embd"], "transformer."
    s = {t + "tokens_embed.weight": (c["vocab_size"], d), t + "positions_embed.weight": (c["n_positions"], d)}
    for i in range(c["n_layer"]):
        s.update(conv1d_shapes(f"{t}h.{i}.", d, 4 * d))
    return s


def gpt_neo_shapes(c):
    d, ff, t = c["hidden_size"], c.get("intermediate_size") or 4 * c["hidden_size"], "transformer."
    s = {t + "wte.weight": (c["vocab_size"], d), t + "wpe.weight": (c["max_position_embeddings"], d)}
    for i in range(c["num_layers"]):
        h = f"{t}h.{i}."
        s.update({f"{h}attn.attention.{p}_proj.weight": (d, d) for p in ("q", "k", "v", "out")})
        s.update({h + "attn.attention.out_proj.bias": (d,), h + "mlp.c_fc.weight": (ff, d), h + "mlp.c_fc.bias": (ff,),
                  h + "mlp.c_proj.weight": (d, ff), h + "mlp.c_proj.bias": (d,)})
        s.update(layer_norms([h + "ln_1", h + "ln_2"], d))
    return {**s, **layer_norms([t + "ln_f"], d)}


def llama_shapes(c):
    d, ff, heads, kv = c["hidden_size"], c["intermediate_size"], c["num_attention_heads"], c["num_key_value_heads"]
    width = c.get("head_dim") or d // heads
    s = {"model.embed_tokens.weight": (c["vocab_size"], d)}
    for i in range(c["num_hidden_layers"]):
        h = f"model.layers.{i}."
        for p, n in ("q", heads), ("k", kv), ("v", kv):
            s[f"{h}self_attn.{p}_proj.weight"] = (n * width, d)
            if c["model_type"] == "qwen2":
                s[f"{h}self_attn.{p}_proj.bias"] = (n * width,)
        s[h + "self_attn.o_proj.weight"] = (d, heads * width)
        s.update({h + "mlp.gate_proj.weight": (ff, d), h + "mlp.up_proj.weight": (ff, d), h + "mlp.down_proj.weight": (d, ff),
                  h + "input_layernorm.weight": (d,), h + "post_attention_layernorm.weight": (d,)})
    s["model.norm.weight"] = (d,)
    if not c["tie_word_embeddings"]:
        s["lm_head.weight"] = (c["vocab_size"], d)
    return s


# --------------------------------------------------------------------------------------------------- files

def save(path, tensors, metadata=None):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, t in sorted(tensors.items(), key=lambda item: -item[1].element_size()):
        t = t.detach().contiguous()
        raw = (t.view(torch.int16) if t.dtype == torch.bfloat16 else t).numpy().tobytes()
        header[name] = {"dtype": TYPES[t.dtype], "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def expected(model, weights, config, context):
    w = {k: v.float().requires_grad_() for k, v in weights.items()}
    ids = torch.randint(config["vocab_size"], (2, 9))
    logits = model(w, config, ids)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    text = ids[0, :3].tolist()
    with torch.no_grad():
        while len(text) < context:
            text.append(model(w, config, torch.tensor([text]))[0, -1].argmax().item())
    return {"ids": ids, "logits": logits, "loss": loss, "greedy": torch.tensor(text),
            **{"grad/" + k: v.grad for k, v in w.items()}}


def folder(name, model, config, weights, extra=None, shards=1, context=24):
    path = os.path.join(HERE, name)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "config.json"), "w") as f:
        json.dump(config, f, indent=2)
        f.write("\n")
    save(os.path.join(path, "expected.safetensors"), expected(model, weights, config, context))
    tensors = {**weights, **(extra or {})}
    if shards == 1:
        return save(os.path.join(path, "model.safetensors"), tensors, {"format": "pt"})
    names, map = sorted(tensors), {}
    for i in range(shards):
        file = f"model-{i + 1:05}-of-{shards:05}.safetensors"
        part = {k: tensors[k] for k in names[i::shards]}
        save(os.path.join(path, file), part, {"format": "pt"})
        map.update({k: file for k in part})
    index = {"metadata": {"total_size": sum(t.numel() * t.element_size() for t in tensors.values())}, "weight_map": map}
    with open(os.path.join(path, "model.safetensors.index.json"), "w") as f:
        json.dump(index, f, indent=2)


def main():
    torch.manual_seed(4)
    c = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": 11, "n_positions": 24, "n_ctx": 24,
         "n_embd": 8, "n_layer": 2, "n_head": 2, "n_inner": None, "activation_function": "gelu_new",
         "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.1, "embd_pdrop": 0.1, "attn_pdrop": 0.1, "initializer_range": 0.02,
         "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}}}
    mask = torch.tril(torch.ones(24, 24))[None, None]  # older files have these
    folder("gpt2", gpt2, c, weights_of(gpt2_shapes(c)), {f"h.{i}.attn.bias": mask for i in range(2)})

    c = {"architectures": ["OpenAIGPTLMHeadModel"], "model_type": "openai-gpt", "afn": "gelu", "vocab_size": 11,
         "n_positions": 24, "n_embd": 8, "n_layer": 2, "n_head": 2, "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.1,
         "embd_pdrop": 0.1, "attn_pdrop": 0.1}
    w = weights_of(gpt1_shapes(c))
    folder("gpt1", gpt1, c, w, {"lm_head.weight": w["transformer.tokens_embed.weight"],
                                "transformer.position_ids": torch.arange(24)[None]})

    c = {"architectures": ["GPTNeoForCausalLM"], "model_type": "gpt_neo", "vocab_size": 11, "max_position_embeddings": 24,
         "hidden_size": 8, "num_layers": 4, "num_heads": 2, "intermediate_size": None, "window_size": 4,
         "activation_function": "gelu_new", "attention_types": [[["global", "local"], 2]], "resid_dropout": 0,
         "embed_dropout": 0, "attention_dropout": 0, "layer_norm_epsilon": 1e-5}
    masks = {f"transformer.h.{i}.attn.attention.bias": mask.bool() for i in range(4)}
    masks.update({f"transformer.h.{i}.attn.attention.masked_bias": torch.tensor(-1e9) for i in range(4)})
    folder("gpt_neo", gpt_neo, c, weights_of(gpt_neo_shapes(c)), masks, shards=2)

    base = {"vocab_size": 11, "hidden_size": 12, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 4,
            "num_key_value_heads": 2, "hidden_act": "silu", "max_position_embeddings": 24, "rms_norm_eps": 1e-5,
            "rope_theta": 100.0, "tie_word_embeddings": False}
    c = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **base, "head_dim": 4, "attention_bias": False,
         "mlp_bias": False, "rope_scaling": None, "bos_token_id": 1, "torch_dtype": "bfloat16"}
    w = {k: v.bfloat16() for k, v in weights_of(llama_shapes(c)).items()}
    folder("llama", llama, c, w, {f"model.layers.{i}.self_attn.rotary_emb.inv_freq": torch.ones(2) for i in range(2)}, shards=3)

    c = {"architectures": ["MistralForCausalLM"], "model_type": "mistral", **base, "hidden_size": 16, "sliding_window": 5,
         "torch_dtype": "float16"}
    folder("mistral", llama, c, {k: v.half() for k, v in weights_of(llama_shapes(c)).items()})

    c = {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", **base, "hidden_size": 16, "tie_word_embeddings": True,
         "use_sliding_window": False}
    folder("qwen2", llama, {k: v for k, v in c.items()}, weights_of(llama_shapes(c)))


if __name__ == "__main__":
    main()
