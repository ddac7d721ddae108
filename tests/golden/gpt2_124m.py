#!/usr/bin/python3
"""GPT-2 of 124 million parameters, random ones, in a folder as Hugging Face lays it out: 100 greedy tokens by PyTorch
and by gradus are to be the same.

    python3 tests/golden/gpt2_124m.py build/release/golden_tests    (needs PyTorch; 500 MB in the temporary folder)
"""
import json, os, subprocess, sys, tempfile
import torch

from make_pretrained import gpt2, gpt2_shapes, save

CONFIG = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": 50257, "n_positions": 1024, "n_embd": 768,
          "n_layer": 12, "n_head": 12, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.1,
          "embd_pdrop": 0.1, "attn_pdrop": 0.1}


def weights():
    torch.manual_seed(0)
    shapes = gpt2_shapes(CONFIG)
    std = lambda k: 0.3 if k == "wpe.weight" else 0.04  # much of a position, so that the text does not repeat itself
    return {k: torch.ones(s) if len(s) == 1 and k.endswith("weight") else torch.randn(s) * std(k) for k, s in shapes.items()}


def greedy(w, text, count):
    least = float("inf")
    with torch.no_grad():
        for _ in range(count):
            best = gpt2(w, CONFIG, torch.tensor([text]))[0, -1].topk(2)
            least = min(least, (best.values[0] - best.values[1]).item())
            text = text + [best.indices[0].item()]
    print(f"PyTorch: {len(set(text))} different tokens of {len(text)}, best and second at least {least:.4f} apart")
    return text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        w = weights()
        print(sum(t.numel() for t in w.values()), "parameters")
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump(CONFIG, f)
        save(os.path.join(folder, "model.safetensors"), w, {"format": "pt"})
        tokens = greedy(w, [464, 2068, 7586, 21831], 100)
        save(os.path.join(folder, "expected.safetensors"), {"greedy": torch.tensor(tokens)})
        test = [sys.argv[1], "--no-skip", "-tc=GPT-2 124M*"]
        sys.exit(subprocess.run(test, env={**os.environ, "GRADUS_GPT2_124M": folder}).returncode)
