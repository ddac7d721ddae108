#include "gradus/data/detail/options.h"

#include "gradus/core/detail/format.h"

namespace gradus::data::detail {

namespace {

constexpr std::int64_t kMostAhead = 1024;

/// Checks `length` and the options that depend on it.
void check_length_options(const DataLoaderOptions& o) {
  check(o.max_tokens >= 0 && o.bucket >= 0,
        "DataLoader: expects max_tokens and bucket of 0 or more, got {} and {}", o.max_tokens, o.bucket);
  check(o.length || o.max_tokens == 0,
        "DataLoader: max_tokens {} needs the lengths of items: .length = [](std::int64_t i) {{ ... }}",
        o.max_tokens);
  check(o.length || o.bucket == DataLoaderOptions().bucket,
        "DataLoader: bucket {} needs the lengths of items: .length = [](std::int64_t i) {{ ... }}", o.bucket);
  check(!o.length || o.bucket > 0 || o.max_tokens > 0,
        "DataLoader: with bucket 0 and no max_tokens, length decides nothing: leave one of them out");
  check(o.max_tokens == 0 || o.batch_size == 1,
        "DataLoader: max_tokens {} takes the place of batch_size {}: leave one of them out", o.max_tokens,
        o.batch_size);
  check(o.max_tokens == 0 || !o.drop_last,
        "DataLoader: drop_last drops a smaller last batch, but with max_tokens batches have different sizes: "
        "leave one of them out");
}

}  // namespace

void check_options(const DataLoaderOptions& o, std::int64_t items) {
  check(items >= 1, "DataLoader: expects 1 item or more, got {}", items);
  check(o.batch_size >= 1, "DataLoader: expects a batch_size of 1 or more, got {}", o.batch_size);
  check(o.read_ahead >= 0 && o.read_ahead <= kMostAhead,
        "DataLoader: expects to read_ahead 0 to {} batches, got {}", kMostAhead, o.read_ahead);
  check_length_options(o);
  check(o.share.begin >= 0 && o.share.begin < o.share.end && o.share.end <= o.share.of,
        "DataLoader: expects a share of shards begin .. end - 1 of `of`, got {} .. {} of {}", o.share.begin,
        o.share.end, o.share.of);
  check(!o.drop_last || items >= o.batch_size,
        "DataLoader: drop_last leaves nothing of {} items and a batch_size of {}", items, o.batch_size);
}

std::vector<std::int64_t> lengths_of(const DataLoaderOptions& options, std::int64_t items) {
  std::vector<std::int64_t> lengths;
  if (!options.length) return lengths;
  for (std::int64_t i = 0; i < items; ++i) {
    const std::int64_t length = lengths.emplace_back(options.length(i));
    check(length >= 0, "DataLoader: item {} has a length of {}, expects 0 or more", i, length);
    check(options.max_tokens == 0 || length <= options.max_tokens,
          "DataLoader: item {} has a length of {}, more than the max_tokens {} of a batch: cut it, or leave "
          "it out",
          i, length, options.max_tokens);
  }
  return lengths;
}

std::int64_t checksum(const std::vector<std::int64_t>& lengths) {
  std::uint64_t sum = 0;
  for (const std::int64_t length : lengths)
    sum = (sum ^ static_cast<std::uint64_t>(length)) * 0x9E3779B97F4A7C15u + 1;
  return static_cast<std::int64_t>(sum);
}

}  // namespace gradus::data::detail
