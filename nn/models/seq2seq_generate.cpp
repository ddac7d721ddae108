// Seq2SeqTransformer: text generation and beam search.

#include <algorithm>
#include <cmath>

#include "gradus/core/detail/format.h"
#include "gradus/nn/detail/expect.h"
#include "gradus/nn/models/seq2seq_transformer.h"
#include "gradus/ops/ops.h"

namespace gradus::nn {

namespace {

/// Adds a batch axis to a source [T]: [B, T].
Tensor batch_of(const std::string& kind, const char* call, const Tensor& source) {
  expect_ids(kind.c_str(), "source", source);
  check(source.dim() == 1 || source.dim() == 2, "{}: {} expects a source [T] or [B, T], got {}", kind, call,
        source.shape());
  return source.dim() == 1 ? source.unsqueeze(0) : source;
}

/// Sets the logit of padding to -infinity in logits [N, V], so that it is never generated.
Tensor without_pad(const Tensor& logits, std::int64_t pad) {
  return masked_fill(logits, arange(logits.size(1)) == pad, -INFINITY);
}

/// Only tables of positions limit the length.
void expect_room_for(const Seq2SeqTransformer& model, const char* call, std::int64_t count) {
  check(count >= 0, "{}: {} expects a count of 0 or more, got {}", model.kind(), call, count);
  const bool table = model.position_waves || model.target_positions;
  check(!table || count <= model.options().context,
        "{}: {} expects a count of at most {}, its context, got {}", model.kind(), call,
        model.options().context, count);
}

/// The numbers of the rows whose last tokens [N] are not stop tokens.
Tensor not_ended(const Tensor& tokens, const std::vector<std::int64_t>& stop) {
  Tensor going_on = ones(tokens.shape(), boolean);
  for (const std::int64_t token : stop) going_on = going_on & (tokens != token);
  return nonzero(going_on).squeeze(-1);
}

/// The rows of a batch that have not ended, and their data.
struct Rows {
  EncoderOutput source;
  Tensor numbers;  // [N], the rows' numbers in the batch
  Tensor ids;      // [N, T], the start token and the tokens generated so far
  std::optional<KeyValueCache> cache;

  void keep(const Tensor& which) {
    numbers = index_select(numbers, 0, which);
    ids = index_select(ids, 0, which);
    if (cache) return cache->select(which);  // the cache keeps the rows of the source
    source.memory = index_select(source.memory, 0, which);
    if (source.padding.defined()) source.padding = index_select(source.padding, 0, which);
  }
};

}  // namespace

Tensor Seq2SeqTransformer::generate(const Tensor& given, std::int64_t count,
                                    const GenerateOptions& options) const {
  const Tensor source = batch_of(kind(), "generate", given);
  expect_room_for(*this, "generate", count);
  const NoGrad no_grad;
  const EvalMode eval_mode(*this);
  const std::int64_t batch = source.size(0);
  std::vector<std::int64_t> stop = options.stop;
  stop.push_back(options_.end);
  expect_stop(kind() + ": generate", stop, options_.vocab);
  Rows rows{.source = encode(source),
            .numbers = arange(batch),
            .ids = full({batch, 1}, options_.start, i64),
            .cache = {}};
  if (options.cache && count > 0 && batch > 0) rows.cache = new_cache(batch, count);
  Tensor text = empty({batch, 0}, i64);
  for (std::int64_t i = 0; i < count && rows.numbers.size(0) > 0; ++i) {
    const Tensor next = rows.cache ? next_logits(rows.ids.slice(1, -1), rows.source, *rows.cache)
                                   : logits(hidden(rows.ids, rows.source).select(1, -1));  // [N, V]
    const std::string caller = kind() + ": generate";
    const Tensor tokens = choose_tokens(without_pad(next, options_.pad), rows.ids, options, caller.c_str());
    const Tensor column = scatter(full({batch}, options_.pad, i64), 0, rows.numbers, tokens);
    text = cat({text, column.unsqueeze(1)}, 1);
    rows.ids = cat({rows.ids, tokens.unsqueeze(1)}, 1);
    if (options.on_token && !options.on_token(column)) break;
    if (const Tensor left = not_ended(tokens, stop); left.size(0) < tokens.size(0)) {
      if (left.size(0) == 0) break;
      rows.keep(left);
    }
  }
  return given.dim() == 1 ? text.squeeze(0) : text;
}

std::vector<std::int64_t> Seq2SeqTransformer::generate(const std::vector<std::int64_t>& source,
                                                       std::int64_t count,
                                                       const GenerateOptions& options) const {
  return generate(from_vector(source), count, options).to_vector<std::int64_t>();
}

ListOf<ListOf<Hypothesis>> Seq2SeqTransformer::beam_search(const Tensor& given,
                                                           const BeamOptions& options) const {
  const Tensor source = batch_of(kind(), "beam_search", given);
  expect_room_for(*this, "beam_search", options.count);
  const NoGrad no_grad;
  const EvalMode eval_mode(*this);
  const std::int64_t batch = source.size(0);
  BeamOptions complete = options;
  complete.stop.push_back(options_.end);
  expect_stop(kind() + ": beam_search", complete.stop, options_.vocab);
  if (batch == 0) return {};
  const EncoderOutput encoded = encode(source);
  KeyValueCache cache = new_cache(batch, std::max<std::int64_t>(options.count, 1));
  return beam_search_batch(full({batch, 1}, options_.start, i64), complete,
                           [&](const Tensor& tokens, const Tensor& parents) {
                             cache.select(parents);
                             return without_pad(next_logits(tokens, encoded, cache), options_.pad);
                           });
}

}  // namespace gradus::nn
