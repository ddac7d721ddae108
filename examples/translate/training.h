#pragma once
// The training loop, and the model's scores so far.

#include <functional>

#include "gradus/distributed/communicator.h"
#include "gradus/kit/program/training_run.h"
#include "gradus/text/bleu.h"
#include "translate/corpus.h"
#include "translate/options.h"
#include "translate/pairs.h"
#include "translate/translator.h"

namespace gradus::translate {

/// Mean cross-entropy in nats over the targets' tokens, without label smoothing and dropout.
double loss_over(const nn::Seq2SeqTransformer& model, const Pairs& pairs, std::int64_t tokens);

/// BLEU of the translations of a corpus; `done` is told the number so far.
text::Bleu bleu_over(const Translator& translator, const Corpus& corpus, const Search& search,
                     const std::function<void(std::size_t)>& done = {});

/// `BLEU 36.52  70.1/45.2/31.0/21.5  ...`: the score, the precisions, and how they were computed, so that
/// scores can be compared.
std::string in_words(const text::Bleu& bleu, const Search& search);

/// The options of the training, and the settings that must match on --resume.
kit::TrainingOptions training_options(const Corpus& training, const Corpus& validation,
                                      const Options& options);

/// Adam as in the paper, label smoothing, warm-up and 1 / sqrt(step). Validates now and then; leaves the
/// model with the mean of its last snapshots, or with the last weights if these validate better. False after
/// Ctrl-C.
bool train(const distributed::Communicator& world, kit::TrainingRun& run, const Translator& translator,
           const Corpus& training, const Corpus& validation, const Options& options);

}  // namespace gradus::translate
