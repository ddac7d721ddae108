#!/usr/bin/python3
"""Writes tests/golden/bert: a tiny BERT as Hugging Face stores one, and what it computes.

    python3 tests/golden/make_bert.py        (needs PyTorch; the committed files were made with 1.13.1)

config.json and model.safetensors are what BertForPreTraining.save_pretrained writes, with random weights. The model
here is written out from the paper's equations. expected.safetensors has the inputs, all outputs, the loss, and
grad/<name of the parameter>.
"""
import json, os
import torch
import torch.nn.functional as F

from make_golden import HERE, save

V, C, H, FF, L, T, TYPES, EPS = 13, 8, 2, 12, 2, 7, 2, 1e-12
CONFIG = {"architectures": ["BertForPreTraining"], "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu",
          "hidden_dropout_prob": 0.1, "hidden_size": C, "initializer_range": 0.02, "intermediate_size": FF,
          "layer_norm_eps": EPS, "max_position_embeddings": T, "model_type": "bert", "num_attention_heads": H,
          "num_hidden_layers": L, "pad_token_id": 0, "position_embedding_type": "absolute", "type_vocab_size": TYPES,
          "vocab_size": V}


def weights():
    names = {"bert.embeddings.word_embeddings.weight": (V, C), "bert.embeddings.position_embeddings.weight": (T, C),
             "bert.embeddings.token_type_embeddings.weight": (TYPES, C)}
    both = lambda name, *shape: names.update({f"{name}.weight": shape, f"{name}.bias": shape[:1]})
    both("bert.embeddings.LayerNorm", C)
    for i in range(L):
        layer = f"bert.encoder.layer.{i}"
        for part in "query", "key", "value":
            both(f"{layer}.attention.self.{part}", C, C)
        both(f"{layer}.attention.output.dense", C, C)
        both(f"{layer}.attention.output.LayerNorm", C)
        both(f"{layer}.intermediate.dense", FF, C)
        both(f"{layer}.output.dense", C, FF)
        both(f"{layer}.output.LayerNorm", C)
    both("bert.pooler.dense", C, C)
    names["cls.predictions.bias"] = (V,)
    both("cls.predictions.transform.dense", C, C)
    both("cls.predictions.transform.LayerNorm", C)
    both("cls.seq_relationship", 2, C)
    return {name: (torch.randn(shape) * 0.4).requires_grad_() for name, shape in names.items()}


def bert(p, ids, types, padding):
    linear = lambda x, name: x @ p[f"{name}.weight"].T + p[f"{name}.bias"]
    norm = lambda x, name: F.layer_norm(x, (C,), p[f"{name}.weight"], p[f"{name}.bias"], EPS)
    B, length = ids.shape
    heads = lambda x: x.view(B, length, H, C // H).transpose(1, 2)
    emb = "bert.embeddings"
    x = p[f"{emb}.word_embeddings.weight"][ids] + p[f"{emb}.position_embeddings.weight"][:length]
    x = norm(x + p[f"{emb}.token_type_embeddings.weight"][types], f"{emb}.LayerNorm")
    for i in range(L):
        layer = f"bert.encoder.layer.{i}"
        q, k, v = (heads(linear(x, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value"))
        scores = (q @ k.transpose(2, 3)) / (C // H) ** 0.5
        scores = scores.masked_fill(padding[:, None, None, :], float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, length, C)
        x = norm(x + linear(mixed, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
        h = F.gelu(linear(x, f"{layer}.intermediate.dense"))
        x = norm(x + linear(h, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    pooled = torch.tanh(linear(x[:, 0], "bert.pooler.dense"))
    h = norm(F.gelu(linear(x, "cls.predictions.transform.dense")), "cls.predictions.transform.LayerNorm")
    mlm = h @ p[f"{emb}.word_embeddings.weight"].T + p["cls.predictions.bias"]
    return x, pooled, mlm, linear(pooled, "cls.seq_relationship")


if __name__ == "__main__":
    torch.manual_seed(0)
    p = weights()
    ids = torch.randint(1, V, (3, 6))
    types = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1]])
    padding = torch.zeros(3, 6, dtype=torch.bool)
    padding[1, 4:] = True
    padding[2, 5:] = True
    ids[padding] = 0
    targets = torch.full((3, 6), -100)
    targets[0, 2], targets[0, 5], targets[1, 3], targets[2, 0] = 4, 12, 7, 1
    following = torch.tensor([0, 1, 1])
    hidden, pooled, mlm, nsp = bert(p, ids, types, padding)
    loss = F.cross_entropy(mlm.view(-1, V), targets.view(-1)) + F.cross_entropy(nsp, following)
    loss.backward()
    folder = os.path.join(HERE, "bert")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as f:
        f.write(json.dumps(CONFIG, indent=2, sort_keys=True) + "\n")
    save("bert/model.safetensors", p)
    expected = {"ids": ids, "token_types": types, "padding": padding, "targets": targets, "next": following,
                "hidden": hidden, "pooled": pooled, "mlm_logits": mlm, "nsp_logits": nsp, "loss": loss}
    save("bert/expected.safetensors", {**expected, **{f"grad/{name}": w.grad for name, w in p.items()}})
