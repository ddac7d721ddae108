#!/usr/bin/python3
"""Writes what PyTorch gives for models with an encoder and a decoder, for tests/golden/seq2seq_test.cpp.

    python3 tests/golden/make_seq2seq.py       (needs PyTorch; the committed files were made with 1.13.1)

seq2seq.safetensors holds nn.Transformer's cases: <name>/param/<key>, source, target, logits, loss (label smoothing
0.1, without padding) and <name>/grad/<key>. pretrained/t5_v1_0, t5_v1_1 and marian are folders as Hugging Face has them,
config.json and model.safetensors; expected.safetensors in each holds the rest, and the tokens of a greedy search.
"""
import json, os
import torch
import torch.nn.functional as F

from make_golden import HERE, save
from seq2seq_cases import MARIAN, SOURCE, T5, TARGET, Torch, marian_logits, marian_weights, renamed, shifted, t5_logits, t5_weights


def run(logits_of, weights, source, target, start, pad):
    for w in weights.values():
        w.requires_grad_()
    logits = logits_of(source, shifted(target, start))
    loss = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad, label_smoothing=0.1)
    loss.backward()
    out = {"source": source, "target": target, "logits": logits, "loss": loss}
    out.update({f"grad/{name}": w.grad for name, w in weights.items()})
    return out


def greedy(logits_of, source, start, end, pad, count=8):
    ids = torch.full((source.shape[0], 1), start)
    over = torch.zeros(source.shape[0], dtype=torch.bool)
    for _ in range(count):
        next = logits_of(source, ids)[:, -1].argmax(-1)
        next[over] = pad
        over |= next == end
        ids = torch.cat([ids, next[:, None]], 1)
    return ids[:, 1:]


def folder(name, config, weights, logits_of):
    start, end, pad = config["decoder_start_token_id"], config["eos_token_id"], config["pad_token_id"]
    source, target = renamed(SOURCE, pad, end), renamed(TARGET, pad, end)
    out = run(logits_of, weights, source, target, start, pad)
    out["greedy"] = greedy(logits_of, source, start, end, pad)
    name = os.path.join("pretrained", name)
    os.makedirs(os.path.join(HERE, name), exist_ok=True)
    with open(os.path.join(HERE, name, "config.json"), "w") as f:
        f.write(json.dumps(config, indent=2) + "\n")
    save(f"{name}/model.safetensors", weights)
    save(f"{name}/expected.safetensors", out)


if __name__ == "__main__":
    cases = {}
    for name, first in ("post", False), ("pre", True):
        model = Torch(first)
        weights = dict(model.named_parameters())
        out = run(model, weights, SOURCE, TARGET, 1, 0)
        cases.update({f"{name}/{key}": value for key, value in out.items()})
        cases.update({f"{name}/param/{key}": value for key, value in weights.items()})
    save("seq2seq.safetensors", cases)
    # Seeds by which greedy search ends some texts and not others.
    for name, gated, seed in ("t5_v1_0", False, 4), ("t5_v1_1", True, 59):
        torch.manual_seed(seed)
        weights = t5_weights(gated)
        config = dict(model_type="t5", architectures=["T5ForConditionalGeneration"], is_encoder_decoder=True,
                      feed_forward_proj="gated-gelu" if gated else "relu", tie_word_embeddings=not gated, **T5)
        folder(name, config, weights, lambda *x: t5_logits(weights, gated, *x))
    torch.manual_seed(38)
    weights = marian_weights()
    folder("marian", dict(model_type="marian", architectures=["MarianMTModel"], is_encoder_decoder=True, **MARIAN),
           weights, lambda *x: marian_logits(weights, *x))
