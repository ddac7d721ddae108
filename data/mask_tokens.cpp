#include "gradus/data/mask_tokens.h"

#include <algorithm>

#include "gradus/core/creation.h"
#include "gradus/core/detail/format.h"
#include "gradus/ops/ops.h"

namespace gradus::data {

namespace {

constexpr std::int64_t kIgnored = -100;  // no target: the ignore_index of the losses

void expect_share(const char* what, double value) {
  check(value >= 0 && value <= 1, "mask_tokens: expects {} from 0 to 1, got {}", what, value);
}

void check_options(const MaskOptions& o) {
  check(o.vocab > 0, "mask_tokens: expects vocab of 1 or more, got {}", o.vocab);
  check(o.mask >= 0 && o.mask < o.vocab, "mask_tokens: expects mask, the id of [MASK], in 0 .. {}, got {}",
        o.vocab - 1, o.mask);
  for (const std::int64_t id : o.special)
    check(id >= 0 && id < o.vocab, "mask_tokens: expects special ids in 0 .. {}, got {}", o.vocab - 1, id);
  expect_share("share", o.share);
  expect_share("masked", o.masked);
  expect_share("random", o.random);
  check(o.masked + o.random <= 1,
        "mask_tokens: expects masked and random to add up to at most 1, got {} and {}", o.masked, o.random);
}

/// The special ids, [MASK] among them, sorted.
std::vector<std::int64_t> special_ids(const MaskOptions& o) {
  std::vector<std::int64_t> ids = o.special;
  ids.push_back(o.mask);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  check(std::ssize(ids) < o.vocab, "mask_tokens: all {} ids are special: no token can be chosen", o.vocab);
  return ids;
}

/// A random id that is not special.
std::int64_t random_token(std::int64_t vocab, const std::vector<std::int64_t>& special,
                          Generator& generator) {
  std::int64_t id = generator.below(vocab - std::ssize(special));
  for (const std::int64_t skipped : special) id += id >= skipped ? 1 : 0;
  return id;
}

}  // namespace

MaskedTokens mask_tokens(const Tensor& ids, const MaskOptions& options, Generator& generator) {
  check(ids.defined() && ids.dtype() == i64, "mask_tokens: expects ids of i64, got {}",
        ids.defined() ? fmt::format("{} {}", ids.dtype(), ids.shape()) : "an undefined tensor");
  check_options(options);
  const std::vector<std::int64_t> special = special_ids(options);
  MaskedTokens result{ids.detach().contiguous().clone(), full(ids.shape(), kIgnored, i64)};
  const auto seen = result.ids.mutable_span<std::int64_t>(),
             targets = result.targets.mutable_span<std::int64_t>();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::int64_t id = seen[i];
    check(id >= 0 && id < options.vocab, "mask_tokens: expects ids in 0 .. {}, got {}", options.vocab - 1,
          id);
    if (std::binary_search(special.begin(), special.end(), id) || generator.uniform() >= options.share)
      continue;
    targets[i] = id;
    const double kind = generator.uniform();
    if (kind < options.masked)
      seen[i] = options.mask;
    else if (kind < options.masked + options.random)
      seen[i] = random_token(options.vocab, special, generator);
  }
  return result;
}

}  // namespace gradus::data
