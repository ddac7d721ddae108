#include "gradus/data/detail/loader.h"

#include <limits>
#include <system_error>

#include "gradus/core/detail/format.h"
#include "gradus/core/profile/watch.h"
#include "gradus/data/detail/options.h"

namespace gradus::data::detail {

namespace {

/// Restores this thread's default generator at the end of its scope.
struct KeptGenerator {
  Generator before = default_generator();
  ~KeptGenerator() { default_generator() = before; }
};

/// The loaders whose batches this thread is making: an item function may itself use another loader.
struct Making {
  explicit Making(const Loader* whose) : loader(whose) { innermost = this; }
  ~Making() { innermost = outer; }
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;

  static inline constinit thread_local const Making* innermost = nullptr;
  const Loader* loader;
  const Making* outer = innermost;
};

/// This share of the batch of the items `ids`; `make(ids)` makes whole ones, of one item at least.
template <class Make>
std::vector<Tensor> share_of(const Share& share, bool pads, const Array& ids, const Make& make) {
  const std::int64_t rows = ids.numel();
  const std::int64_t begin = share.first_row(share.begin, rows), end = share.first_row(share.end, rows);
  if (end - begin == rows) return make(ids);
  if (!pads && begin < end) return make(ids.slice(0, begin, end).contiguous());
  std::vector<Tensor> parts = make(pads ? ids : ids.slice(0, 0, 1));
  for (Tensor& part : parts) part = pads ? part.slice(0, begin, end).clone() : part.slice(0, 0, 0);
  return parts;
}

}  // namespace

Loader::Loader(std::unique_ptr<const Source> source, const DataLoaderOptions& options)
    : source_(std::move(source)), options_(options) {
  check_options(options_, source_->items());
  lengths_ = lengths_of(options_, source_->items());
  if (options_.generator)
    place_.seed = Generator(*options_.generator).next();
  else if (options_.shuffle || source_->draws())
    place_.seed = default_generator().next();
}

Plan Loader::plan_of(const Place& place) const {
  return Plan(source_->items(), lengths_, options_, generator_of(place.seed, place.epoch, -1));
}

const Plan& Loader::plan() const {
  if (!plan_) plan_ = std::make_shared<const Plan>(plan_of(place_));
  return *plan_;
}

void Loader::begin_next_epoch() {
  prefetch_.reset();
  plan_.reset();
  ++place_.epoch;
  place_.handed_out = 0;
  resumed_ = false;
}

std::uint64_t Loader::begin_loop() {
  expect_outside();
  prefetch_.reset();
  if (place_.handed_out > 0 && !resumed_) begin_next_epoch();
  return ++loop_;
}

bool Loader::next_of_loop(std::uint64_t number, std::span<Tensor> batch) {
  expect_outside();
  check(number == loop_,
        "DataLoader: inside a `for` over this loader, another `for` over it began, or next() or "
        "load_state_dict() was called: a loader has one position, so use a second loader");
  for (Tensor& part : batch) part = Tensor();  // frees its memory for the next batch
  if (place_.handed_out < size()) return hand_out(batch), true;
  begin_next_epoch();
  return false;
}

void Loader::end_loop(std::uint64_t number) {
  if (number == loop_) prefetch_.reset();
}

void Loader::next(std::span<Tensor> batch) {
  expect_outside();
  ++loop_;
  if (place_.handed_out == size()) begin_next_epoch();  // after a loaded state or a left loop
  hand_out(batch);
  if (place_.handed_out == size()) begin_next_epoch();
}

void Loader::hand_out(std::span<Tensor> batch) {
  const ProfileRange range("DataLoader");
  const std::int64_t rows = plan().batch(place_.handed_out).numel();
  std::vector<Tensor> made = make();
  batch_rows_ = rows;
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i] = std::move(made[i]);
  ++place_.handed_out;
  resumed_ = false;
}

std::vector<Tensor> Loader::make() {
  if (prefetch_ && !prefetch_->has_thread()) prefetch_.reset();  // a forked child starts its own
  if (options_.read_ahead > 0 && !prefetch_) read_ahead();
  if (!prefetch_) return maker()(place_.handed_out, false);
  try {
    return prefetch_->next();
  } catch (...) {
    prefetch_.reset();
    throw;
  }
}

void Loader::read_ahead() {
  try {
    prefetch_.reset(new Prefetch(place_.handed_out, size(), options_.read_ahead, maker()));
  } catch (const std::system_error&) {
    // The system has no more threads: this one makes the batches.
  }
}

/// The result does not depend on when or on which thread it is called: it reads no state that changes.
MakeBatch Loader::maker() const {
  plan();
  return
      [self = this, source = source_, plan = plan_, dtype = dtype_, products = products_,
       share = options_.share, pads = !options_.pad.empty(),
       draw = Source::Draw{place_.seed, place_.epoch}](std::int64_t number, const std::atomic<bool>& stop) {
        const NoGrad no_grad;
        const DefaultDType guard(dtype);
        const Autocast autocast(products);
        const KeptGenerator kept;
        const Making making(self);
        return share_of(share, pads, plan->batch(number),
                        [&](const Array& ids) { return source->batch(ids, draw, stop); });
      };
}

void Loader::expect_outside() const {
  for (const Making* making = Making::innermost; making; making = making->outer)
    check(making->loader != this,
          "DataLoader: the item function takes batches from its own loader, which needs the function to make "
          "them: use a second loader");
}

/// The properties in which a state and a loader that loads it must agree.
std::vector<std::pair<const char*, std::int64_t>> Loader::identity() const {
  std::vector<std::pair<const char*, std::int64_t>> result = {
      {"items", source_->items()},         {"parts", static_cast<std::int64_t>(source_->parts())},
      {"batch_size", options_.batch_size}, {"max_tokens", options_.max_tokens},
      {"shuffle", options_.shuffle},       {"drop_last", options_.drop_last}};
  if (!lengths_.empty()) {
    result.emplace_back("bucket", options_.bucket);
    result.emplace_back("lengths", checksum(lengths_));
  }
  return result;
}

StateDict Loader::state_dict() const {
  StateDict dict;
  dict.set("seed", tensor(static_cast<std::int64_t>(place_.seed)));
  dict.set("epoch", tensor(place_.epoch));
  dict.set("handed_out", tensor(place_.handed_out));
  for (const auto& [key, value] : identity()) dict.set(key, tensor(value));
  return dict;
}

std::string Loader::fingerprint() const {
  std::string text = fmt::format("seed {}, epoch {}, batch {}", place_.seed, place_.epoch, place_.handed_out);
  for (const auto& [key, value] : identity()) text += fmt::format(", {} {}", key, value);
  return text + source_->fingerprint();
}

void Loader::load_state_dict(const StateDict& dict) {
  expect_outside();
  const auto expected = identity();
  const auto number = [&](const char* key) {
    const Tensor* const value = dict.find(key);
    check(value && value->defined() && value->dtype() == i64 && value->numel() == 1,
          "DataLoader: expects one i64 {} in the state: the state belongs to something else, or to a loader "
          "with other options",
          key);
    return value->item<std::int64_t>();
  };
  for (const auto& [key, value] : expected)
    check(number(key) == value,
          "DataLoader: the state is of a loader with {} {}, this one has {}: the batches would differ", key,
          number(key), value);
  check(dict.size() == expected.size() + 3,
        "DataLoader: the state has {} entries, expects {}: it belongs to a loader with other options",
        dict.size(), expected.size() + 3);
  const Place place{static_cast<std::uint64_t>(number("seed")), number("epoch"), number("handed_out")};
  constexpr std::int64_t last =
      std::numeric_limits<std::int64_t>::max() - 1;  // the next one has a number, too
  check(place.epoch >= 0 && place.epoch <= last, "DataLoader: epoch {} in the state, expects 0 to {}",
        place.epoch, last);
  const auto plan = std::make_shared<const Plan>(plan_of(place));
  check(place.handed_out >= 0 && place.handed_out <= plan->size(),
        "DataLoader: {} batches handed out in the state, expects 0 to {}, the batches of an epoch",
        place.handed_out, plan->size());
  prefetch_.reset();
  place_ = place;
  plan_ = plan;
  resumed_ = true;
  ++loop_;
}

}  // namespace gradus::data::detail
