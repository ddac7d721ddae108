#!/usr/bin/python3
"""Writes what the tests of gradus::text compare with: golden.json.

    python3 tests/text/golden/make_golden.py GPT2        (needs python3-regex; GPT2 has encoder.json and vocab.bpe)

Byte-level BPE and its training, BERT's tokenizer and BLEU are written here from their published descriptions, the slow
and plain way. spiece.model was made from text.txt by Debian's spm_train 0.1.97:

    spm_train --input=text.txt --model_prefix=spiece --vocab_size=150 --pad_id=0 --eos_id=1 --unk_id=2 --bos_id=-1 \
        --normalization_rule_name=identity --hard_vocab_limit=false
"""
import json, math, os, random, sys, unicodedata
from collections import Counter
import regex

HERE = os.path.dirname(os.path.abspath(__file__))
GPT2 = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")


# --- byte-level BPE

def letters():
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in own]
    return {**{b: chr(b) for b in own}, **{b: chr(256 + i) for i, b in enumerate(others)}}


LETTERS = letters()


def merged(parts, pair):
    out, i = [], 0
    while i < len(parts):
        if tuple(parts[i:i + 2]) == pair:
            out.append(parts[i] + parts[i + 1])
            i += 2
        else:
            out.append(parts[i])
            i += 1
    return out


def bpe_word(word, ranks):
    parts = [LETTERS[b] for b in word]
    while True:
        pairs = [p for p in zip(parts, parts[1:]) if p in ranks]
        if not pairs:
            return parts
        parts = merged(parts, min(pairs, key=ranks.get))


def bpe(text, ids, ranks, pattern=GPT2):
    words = [m.group() for m in pattern.finditer(text)]
    assert "".join(words) == text
    return [ids[part] for word in words for part in bpe_word(word.encode(), ranks)]


def train_bpe(text, vocab, special):
    words = [([LETTERS[b] for b in w.encode()], n) for w, n in Counter(GPT2.findall(text)).items()]
    tokens = special + sorted(LETTERS.values())
    merges = []
    while len(tokens) < vocab:
        counts = Counter()
        for parts, n in words:
            for pair in zip(parts, parts[1:]):
                counts[pair] += n
        pair, n = min(counts.items(), key=lambda c: (-c[1], tokens.index(c[0][0]), tokens.index(c[0][1])))
        if n < 2:
            break
        merges.append(pair)
        words = [(merged(parts, pair), n) for parts, n in words]
        if "".join(pair) not in tokens:
            tokens.append("".join(pair))
    return tokens, merges


# --- BERT

def is_punctuation(c):
    return 33 <= ord(c) <= 47 or 58 <= ord(c) <= 64 or 91 <= ord(c) <= 96 or 123 <= ord(c) <= 126 or \
        unicodedata.category(c).startswith("P")


def is_chinese(c):
    ranges = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
              (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]
    return any(a <= ord(c) <= b for a, b in ranges)


def bert_words(text, lower):
    clean = ""
    for c in text:
        if c in "\t\n\r" or unicodedata.category(c) in ("Zs", "Zl", "Zp"):
            clean += " "
        elif c not in "\0\ufffd" and unicodedata.category(c) not in ("Cc", "Cf", "Co"):
            clean += f" {c} " if is_chinese(c) else c
    if lower:
        clean = "".join(c for c in unicodedata.normalize("NFD", clean) if unicodedata.category(c) != "Mn")
        clean = "".join(c.lower() for c in clean)
    return "".join(f" {c} " if is_punctuation(c) else c for c in clean).split()


def word_piece(word, vocab):
    if len(word) > 100:
        return ["[UNK]"]
    pieces, at = [], 0
    while at < len(word):
        ends = [e for e in range(len(word), at, -1) if ("##" if at else "") + word[at:e] in vocab]
        if not ends:
            return ["[UNK]"]
        pieces.append(("##" if at else "") + word[at:ends[0]])
        at = ends[0]
    return pieces


def train_word_piece(text, vocab):
    counts = Counter(bert_words(text, True))
    characters = sorted({c for w in counts for c in w})
    inner = []
    for word in sorted(counts):
        inner += dict.fromkeys("##" + c for c in word[1:] if "##" + c not in inner)
    # Inner characters get their ids as the sorted words bring them up.
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + characters + inner
    words = [([w[0]] + ["##" + c for c in w[1:]], n) for w, n in counts.items()]
    while len(tokens) < vocab:
        pairs = Counter()
        for parts, n in words:
            for pair in zip(parts, parts[1:]):
                pairs[pair] += n
        pair, n = min(pairs.items(), key=lambda c: (-c[1], tokens.index(c[0][0]), tokens.index(c[0][1])))
        if n < 2:
            break
        new = pair[0] + pair[1][2:]
        words = [([new if p == pair[0] + pair[1] else p for p in merged(parts, pair)], n) for parts, n in words]
        if new not in tokens:
            tokens.append(new)
    return tokens


# --- BLEU, sacreBLEU's default

def words_13a(line):
    line = line.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for a, b in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        line = line.replace(a, b)
    line = f" {line} "
    for pattern, to in ((r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", r" \1 "), (r"([^0-9])([\.,])", r"\1 \2 "),
                        (r"([\.,])([^0-9])", r" \1 \2"), (r"([0-9])(-)", r"\1 \2 ")):
        line = regex.sub(pattern, to, line)
    return line.split()


def bleu(hypotheses, sets):
    matches, totals, length, reference_length = [0] * 4, [0] * 4, 0, 0
    for i, hypothesis in enumerate(hypotheses):
        words, references = words_13a(hypothesis), [words_13a(s[i]) for s in sets]
        length += len(words)
        reference_length += min((abs(len(r) - len(words)), len(r)) for r in references)[1]
        for n in range(4):
            def grams(w):
                return Counter(tuple(w[j:j + n + 1]) for j in range(len(w) - n))
            best = Counter()
            for r in references:
                best |= grams(r)
            matches[n] += sum((grams(words) & best).values())
            totals[n] += max(len(words) - n, 0)
    penalty = 1.0 if length >= reference_length else math.exp(1 - reference_length / length) if length else 0.0
    precisions, smooth = [0.0] * 4, 1
    if any(matches):
        for n in range(4):
            if totals[n] == 0:
                break
            smooth *= 1 if matches[n] else 2
            precisions[n] = 100 * matches[n] / totals[n] if matches[n] else 100 / (smooth * totals[n])
    score = penalty * math.exp(sum(map(math.log, precisions)) / 4) if all(precisions) else 0.0
    return {"score": score, "precisions": precisions, "penalty": penalty, "length": length,
            "reference_length": reference_length}


# --- what is written

def random_text(rng, length):
    kinds = ["abcdefghijklmnop  ", "ABCxyz'", "0123456789", " \t\n\r\u00a0\u3000\u2028\u180e\u0085", "äöüßéèñçø",
             "дфжЖЭ", "中文字日本ひらがな한국어", "😀🎉👍🏽\u200d", ".,;:!?-–—…“”’`^$<>|~", "'s't're've'm'll'd'S'LL",
             "\u0301\u0308\u0327", "٣४५Ⅷ½²", "\x00\x07\x7f\ufffd\u200b\ue000", "ﬁİıςΣŉǅ"]
    return "".join(rng.choice(rng.choice(kinds)) for _ in range(length))


def main(gpt2):
    rng = random.Random(1)
    text = open(os.path.join(HERE, "text.txt"), encoding="utf-8").read()
    texts = ["", " ", "Hello world", "  two  spaces \n\n and\tlines\r\n ", "I'll say it's 12345.67 o'clock, WE'LL see",
             "don't stop  ", "x" * 120, "ab " * 50, text] + [random_text(rng, n % 60 + 1) for n in range(120)]
    ids = json.load(open(os.path.join(gpt2, "encoder.json"), encoding="utf-8"))
    lines = open(os.path.join(gpt2, "vocab.bpe"), encoding="utf-8").read().split("\n")[1:]
    ranks = {tuple(line.split()): i for i, line in enumerate(filter(None, lines))}
    tokens, merges = train_bpe(text, 400, ["<pad>", "<s>"])
    small, small_ranks = {t: i for i, t in enumerate(tokens)}, {m: i for i, m in enumerate(merges)}
    vocab = train_word_piece(text, 300)
    words = {t: i for i, t in enumerate(vocab)}
    lower = [[words[p] for w in bert_words(t, True) for p in word_piece(w, words)] for t in texts]
    cased = [[words[p] for w in bert_words(t, False) for p in word_piece(w, words)] for t in texts]

    parts = ["the", "cat", "sat", "on", "a", "mat", "1,000.5", "(well-known)", "don't", "U.S.", "3-4", "\"so\"", "...", "&quot;",
             "&amp;lt;", "über", "—", "$5", "a/b", "x\u00a0y", "end.", "5.", ".5", "5,", "mat-\nted", "中文。"]
    cases = []
    for n in range(30):
        size = n % 5 + 1
        sentence = lambda: " ".join(rng.choice(parts[:26 if n % 2 else 8]) for _ in range(rng.randint(0 if n > 9 else 3, 14)))
        sets = [[sentence() for _ in range(size)] for _ in range(n % 3 + 1)]
        mixed = [" ".join(w if rng.random() < 0.8 else rng.choice(parts) for w in s.split(" ")) for s in sets[0]]
        cases.append({"hypotheses": mixed, "sets": sets, **bleu(mixed, sets)})

    golden = {"texts": texts, "gpt2": [bpe(t, ids, ranks) for t in texts],
              "bpe": {"tokens": tokens, "merges": merges, "ids": [bpe(t, small, small_ranks) for t in texts],
                      "llama3_pattern": LLAMA3,
                      "llama3": [bpe(t, small, small_ranks, regex.compile(LLAMA3)) for t in texts]},
              "word_piece": {"tokens": vocab, "lower": lower, "cased": cased},
              "words_13a": [[p, words_13a(p)] for c in cases for p in c["hypotheses"]], "bleu": cases}
    with open(os.path.join(HERE, "golden.json"), "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in golden.items()) + "\n}\n")


main(sys.argv[1])
