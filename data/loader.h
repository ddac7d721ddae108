#pragma once
// DataLoader: batches of tensors, or of the items of a function of an index. A program derives no class.
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
#include <string>
#include <utility>
#include <vector>

#include "gradus/core/io/state_dict.h"
#include "gradus/core/random/random.h"
#include "gradus/core/tensor.h"
#include "gradus/data/item_function.h"

namespace gradus::data {

/// The part of each batch that one of many ranks computes: shards begin .. end - 1 of `of`
/// (distributed::DataParallel).
struct Share {
  int begin = 0, end = 1, of = 1;
  /// The first row of a shard in a batch of `rows`: row ceil(shard rows / of).
  std::int64_t first_row(int shard, std::int64_t rows) const { return (shard * rows + of - 1) / of; }
};

struct DataLoaderOptions {
  std::int64_t batch_size = 1;  // items
  /// Replaces batch_size, and needs `length`: in each batch, the longest item's length times the number of
  /// items is at most this.
  std::int64_t max_tokens = 0;
  bool shuffle = false;    // a new order each epoch
  bool drop_last = false;  // drop a last batch that is smaller than the others
  /// Pads items of a function whose first axes differ, at the end of the axis, to the longest of the batch:
  /// one value, or one for each part. Without it such items are an error. `.pad = {0, -100}`
  std::vector<Scalar> pad = {};
  /// The length of an item, called once per item when the loader is made: items of similar length then share
  /// batches. The order is cut into pools of `bucket` batches, and each pool is sorted by length (also when
  /// nothing is shuffled). `bucket = 0` sorts nothing: for max_tokens in an order that must not change.
  std::function<std::int64_t(std::int64_t)> length = {};
  std::int64_t bucket = 100;
  /// Decides the orders and a function's random numbers. A loader that shuffles or has a function takes its
  /// seed from default_generator() when it is made, or from a copy of this generator: two loaders given the
  /// same one have the same orders. `.generator = Generator(7)`
  std::optional<Generator> generator = {};
  /// The number of batches that a thread of the loader prepares while the program works on the one before:
  /// for functions that read files or compute. That thread reads the data they use, which must not be changed
  /// meanwhile; therefore the default is 0. The batches are the same, bit for bit.
  std::int64_t read_ahead = 0;
  /// Makes only this share of each batch. The order, the position and the state are those of the whole
  /// loader, on every rank, so a state may go on with other shares. With `pad` all items of the batch are
  /// made, since the longest decides the width. `.share = parallel.share()`
  Share share = {};
};

namespace detail {

class Loader;

/// One tensor or an array of them, or a std::vector, which a deleted constructor rejects.
template <class Data>
concept Rows = std::derived_from<Data, Tensor> || std::derived_from<Data, std::vector<Tensor>> ||
    requires(const Data& data) {
  []<std::size_t N>(const std::array<Tensor, N>&) {}(data);
};

template <Rows Data>
constexpr std::size_t tensors_in() {  // never run: the compiler evaluates it
  if constexpr (requires { std::tuple_size<Data>::value; })
    return std::tuple_size_v<Data>;
  else
    return 1;
}

/// One pass through a loader's epoch; its destructor ends the thread that reads ahead.
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

/// The part of DataLoader that does not depend on the number of parts of an item.
class LoaderBase {
 public:
  /// The number of batches in an epoch; with max_tokens, in this epoch.
  std::int64_t size() const;
  /// The number of the current epoch, from 0. It increases when next() has returned the last batch, and when
  /// a `for` has run to its end; after a loop that was left early, it increases when the next one begins.
  std::int64_t epoch() const;
  /// The rows of the last batch, those of all shares; 0 before the first.
  std::int64_t batch_rows() const;

  /// The position: the number of batches returned so far, and the seed of those to come. For a checkpoint:
  /// `state.add_all("loader.", loader.state_dict());` A state saved after a `break` is a position inside the
  /// epoch: a loader that loads it continues there, while a new `for` over this one begins the next epoch.
  StateDict state_dict() const;
  /// Restores the position: the next `for` or next() continues with the remaining batches of that epoch, bit
  /// for bit. Throws, changing nothing, when the state is of a loader with another number of items or
  /// tensors, batch_size, max_tokens, shuffle, drop_last, bucket or lengths. The state does not contain the
  /// other options: the program must give the same items and the same `pad`.
  void load_state_dict(const StateDict& dict);
  /// A line that is the same for loaders with the same order, position and tensors: of these it has a
  /// checksum, of a function only the number of items. To compare ranks:
  /// `world.expect_same("The data", loader.fingerprint());`
  std::string fingerprint() const;

 protected:
  LoaderBase(std::span<const Tensor> tensors, const DataLoaderOptions& options);
  LoaderBase(std::int64_t items, std::size_t parts, ItemFunction function, const DataLoaderOptions& options);
  std::shared_ptr<Loader> loader() const;
  void next(std::span<Tensor> batch);

 private:
  std::shared_ptr<Loader> loader_;  // null after a move
};

}  // namespace detail

// DataLoader<N> is a specialization because constructors of a primary template are deduction guides: the
// compiler would list them all for an error in a call, and none can deduce N.
template <std::size_t N>
class DataLoader;

/// Batches of N tensors, as TensorArray<N>, a std::array: [batch_size, axes of an item...] each, copies
/// without a tape. Each `for` over the loader is an epoch; after a loop that was left early, the next one
/// begins a new epoch.
///
/// A program may leave a loop in any way, also by an exception. A loader has one position: only one loop and
/// one thread may use it at a time; it can be moved, not copied.
template <std::size_t N>
requires(N > 0) class DataLoader<N> : public detail::LoaderBase {
 public:
  using Batch = TensorArray<N>;  // a row of tensors, as in the data

  /// Rows of tensors with equal first axes. The loader shares their memory: later batches contain values
  /// written into the tensors meanwhile. Throws when one is undefined, requires grad or has no axes.
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
  DataLoader(const List&, const DataLoaderOptions& = {}) = delete;  // the type needs their number: ({x, y})

  /// Items 0 .. items - 1 of a function, which returns a Tensor, a std::array of them or a struct of two,
  /// such as data::MaskedTokens (the same number, shapes and dtypes for every item; see pad). Objects that it
  /// captures by reference must live as long as the loader.
  ///
  ///     const auto item = [&](std::int64_t i) { return std::array{read(files[i]), labels[i]}; };
  ///     data::DataLoader loader(files.size(), item, {.batch_size = 32, .shuffle = true, .read_ahead = 2});
  ///
  /// Random numbers that it draws from default_generator(), or from a second argument `Generator&`, depend
  /// only on the loader's seed, the epoch and the index: reading ahead or a restart does not change them. The
  /// function runs without a tape, and with the default dtype and Autocast of the loader's construction.
  template <class F>
  DataLoader(Int items, F function, const DataLoaderOptions& options = {})
      : LoaderBase(items, N, detail::item_function(std::move(function)), options) {
    static_assert(detail::parts_of<F>() == N, "the function of a DataLoader<N> returns N tensors");
  }

  DataLoader(DataLoader&&) noexcept = default;
  DataLoader& operator=(DataLoader&&) noexcept = default;

  /// The next batch; after an epoch's last batch, the first of the next epoch: for programs that count steps.
  /// `const auto [xb, yb] = loader.next();`
  Batch next() {
    Batch batch;
    LoaderBase::next(batch);
    return batch;
  }

  class Iterator {  // for a range-for over the batches
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

// These guides deduce the number of tensors. If the compiler finds none for options in braces, an option's
// name is misspelled: it names it in `const data::DataLoaderOptions options{...};`
template <class F>
DataLoader(Int, F, const DataLoaderOptions& = {}) -> DataLoader<detail::parts_of<F>()>;
template <detail::Rows Data, std::size_t N = detail::tensors_in<Data>()>
DataLoader(const Data&, const DataLoaderOptions& = {}) -> DataLoader<N>;  // in braces: ({x, y})
template <std::size_t N>
DataLoader(const Tensor (&)[N], const DataLoaderOptions& = {}) -> DataLoader<N>;  // options by name

}  // namespace gradus::data
