#pragma once
// gradus::text: tokenizers and BLEU. See docs/tokenizers.md for examples.

#include "gradus/text/bleu.h"
#include "gradus/text/byte_level_bpe.h"
#include "gradus/text/pad_batch.h"
#include "gradus/text/sentence_piece.h"
#include "gradus/text/tokenizer.h"
#include "gradus/text/train.h"
#include "gradus/text/utf8_stream.h"
#include "gradus/text/word_piece.h"
