#pragma once
// DataLoader: batches of what a program has, tensors or a function of an index. There is no class to derive
// from.
//
//   data::DataLoader loader({x, y}, {.batch_size = 32, .shuffle = true});
//   while (loader.epoch() < 10)
//     for (const auto& [xb, yb] : loader) train_step(xb, yb);

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"
#include "gradus/data/item_function.h"

namespace gradus::data {

struct DataLoaderOptions {
  std::int64_t batch_size = 1;  // items
  /// In the place of batch_size, with `length`: the longest item's length times the number of items of a
  /// batch is at most this.
  std::int64_t max_tokens = 0;
  bool shuffle = false;    // another order each epoch
  bool drop_last = false;  // leave a last batch out that is smaller than the others
  /// Items of a function that differ in the length of their first axis get this at its end, up to the longest
  /// of the batch: one value, or one for each part. Without it such items are an error. `.pad = {0, -100}`
  std::vector<Scalar> pad = {};
  /// The length of an item, asked once for each when the loader is made: items of like length then share
  /// batches. For that the order is cut into pools of `bucket` batches, and each pool is sorted by length (so
  /// also when nothing is shuffled). `bucket = 0` sorts nothing: for max_tokens in an order that must stay.
  std::function<std::int64_t(std::int64_t)> length = {};
  std::int64_t bucket = 100;
  /// What decides the orders, and the numbers a function draws: a seed taken from default_generator() when
  /// the loader is made, or from this, which is copied: two loaders given the same one have the same orders.
  /// `.generator = Generator(7)`
  std::optional<Generator> generator = {};
  /// So many batches are prepared by a thread of the loader while the program works on the one before: for
  /// functions that read files or compute. What they use is read on that thread then, and must not be changed
  /// meanwhile: hence 0, none, unless asked for. The batches are the same bits.
  std::int64_t read_ahead = 0;
};

namespace detail {

class Loader;

/// One tensor or an array of them, or a std::vector, which a constructor refuses.
template <class Data>
concept Rows = std::derived_from<Data, Tensor> || std::derived_from<Data, std::vector<Tensor>> ||
    requires(const Data& data) {
  []<std::size_t N>(const std::array<Tensor, N>&) {}(data);
};

template <Rows Data>
constexpr std::size_t tensors_in() {
  if constexpr (requires { std::tuple_size<Data>::value; })
    return std::tuple_size_v<Data>;
  else
    return 1;
}

/// One pass through a loader's epoch; its end ends the thread that reads ahead.
class Loop {
 public:
  explicit Loop(std::shared_ptr<Loader> loader);
  Loop(Loop&&) noexcept = default;
  Loop& operator=(Loop&&) = delete;
  ~Loop();
  /// The next batch; false at the end.
  bool next(std::span<Tensor> batch);

 private:
  std::shared_ptr<Loader> loader_;
  std::uint64_t number_;
};

/// What does not depend on how many parts an item has.
class LoaderBase {
 public:
  /// Batches in an epoch; with max_tokens, in this one.
  std::int64_t size() const;
  /// The number of the epoch that is under way, from 0. It moves on when next() has handed out the last
  /// batch, and when a `for` ends by itself; for a loop that was left early, when the next one begins.
  std::int64_t epoch() const;

  /// The place: the batches handed out so far, and what decides those to come. For a checkpoint:
  /// `state.add_all("loader.", loader.state_dict());` Saved after a `break`, it is a place in the middle of
  /// the epoch: there a loader that loads it goes on, while a new `for` of this one begins the next epoch.
  StateDict state_dict() const;
  /// Takes the place back: the next `for` or next() goes on with the batches that were left of that epoch,
  /// the same bits. Throws, changing nothing, when the state is of a loader with another number of items or
  /// tensors, batch_size, max_tokens, shuffle, drop_last, bucket or lengths. The other options are not in it:
  /// that `pad` and the items themselves are the same is up to the program.
  void load_state_dict(const StateDict& dict);

 protected:
  LoaderBase(std::span<const Tensor> tensors, const DataLoaderOptions& options);
  LoaderBase(std::int64_t items, std::size_t parts, ItemFunction function, const DataLoaderOptions& options);
  std::shared_ptr<Loader> loader() const;
  void next(std::span<Tensor> batch);

 private:
  std::shared_ptr<Loader> loader_;  // none once moved from
};

}  // namespace detail

// DataLoader<N> is a specialisation because constructors of a primary template are deduction guides: the
// compiler would list them all for an error in a call, and none can tell N.
template <std::size_t N>
class DataLoader;

/// Batches of N tensors, as TensorArray<N>, a std::array: [batch_size, axes of an item...] each, copies
/// without a tape. Each `for` over the loader is an epoch; one that is left early is not taken up again by
/// the next.
///
/// A program may leave a loop in any way, also by an exception, its own or the function's. A loader has one
/// place: it is gone through by one loop, and used by one thread, at a time; it may be moved, not copied.
template <std::size_t N>
requires(N > 0) class DataLoader<N> : public detail::LoaderBase {
 public:
  using Batch = TensorArray<N>;  // a row of tensors, as the data has

  /// Rows of tensors of the same first axis. It holds handles: what is written into the tensors later is in
  /// later batches. Throws when one is undefined, requires grad or has no axes.
  /// `data::DataLoader loader({x, y}, {.batch_size = 32, .shuffle = true, .drop_last = true});`
  DataLoader(const Tensor (&tensors)[N], const DataLoaderOptions& options = {})
      : LoaderBase(std::span<const Tensor>(tensors), options) {}
  DataLoader(const std::array<Tensor, N>& tensors, const DataLoaderOptions& options = {})
      : LoaderBase(std::span<const Tensor>(tensors), options) {}
  /// One tensor needs no braces; its batches are TensorArray<1> all the same.
  template <std::derived_from<Tensor> One>
  explicit DataLoader(const One& tensor, const DataLoaderOptions& options = {})
      : LoaderBase(std::span(static_cast<const Tensor*>(&tensor), 1), options) {
    static_assert(N == 1, "a DataLoader<N> takes N tensors");
  }
  template <std::derived_from<std::vector<Tensor>> List>
  DataLoader(const List&, const DataLoaderOptions& = {}) = delete;  // their number is in the type: ({x, y})

  /// Items 0 .. items - 1 of a function, which returns a Tensor, a std::array of them or a struct of two,
  /// such as data::MaskedTokens (the same number, shapes and dtypes for every item; see pad). What it
  /// captures by reference must live as long as the loader.
  ///
  ///     const auto item = [&](std::int64_t i) { return std::array{read(files[i]), labels[i]}; };
  ///     data::DataLoader loader(files.size(), item, {.batch_size = 32, .shuffle = true, .read_ahead = 2});
  ///
  /// Random numbers it draws from default_generator(), or from a second argument `Generator&`, depend on the
  /// loader's seed, the epoch and the index only: they are the same ones read ahead, and after a restart. It
  /// runs without a tape, and with the default dtype the loader was made with.
  template <class F>
  DataLoader(Int items, F function, const DataLoaderOptions& options = {})
      : LoaderBase(items, N, detail::item_function(std::move(function)), options) {
    static_assert(detail::parts_of<F>() == N, "the function of a DataLoader<N> returns N tensors");
  }

  DataLoader(DataLoader&&) noexcept = default;
  DataLoader& operator=(DataLoader&&) noexcept = default;

  /// The next batch; after an epoch's last one the first of the next epoch: for programs that count steps.
  /// `const auto [xb, yb] = loader.next();`
  Batch next() {
    Batch batch;
    LoaderBase::next(batch);
    return batch;
  }

  class Iterator {  // of a range-for over the batches
   public:
    explicit Iterator(std::shared_ptr<detail::Loader> loader) : loop_(std::move(loader)) { ++*this; }
    const Batch& operator*() const { return batch_; }
    Iterator& operator++() {
      more_ = loop_.next(batch_);
      return *this;
    }
    bool operator==(std::default_sentinel_t) const { return !more_; }

   private:
    detail::Loop loop_;
    Batch batch_;
    bool more_ = false;
  };
  Iterator begin() { return Iterator(loader()); }
  void begin() const = delete;  // a loop moves the loader's place: it must not be const
  std::default_sentinel_t end() const { return {}; }
};

// These say how many tensors there are. An option they do not know is misspelt: the compiler names it in
// `const data::DataLoaderOptions options{...};`
template <class F>
DataLoader(Int, F, const DataLoaderOptions& = {}) -> DataLoader<detail::parts_of<F>()>;
template <detail::Rows Data, std::size_t N = detail::tensors_in<Data>()>
DataLoader(const Data&, const DataLoaderOptions& = {}) -> DataLoader<N>;  // in braces: ({x, y})
template <std::size_t N>
DataLoader(const Tensor (&)[N], const DataLoaderOptions& = {}) -> DataLoader<N>;  // options by name

}  // namespace gradus::data
