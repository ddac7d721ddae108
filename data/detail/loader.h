#pragma once
// Loader: the implementation of DataLoader. It keeps the position in the epoch; the plan knows which items
// form a batch; the source makes the batch, on this thread or in advance on another.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradus/core/tape/autocast.h"
#include "gradus/data/detail/plan.h"
#include "gradus/data/detail/prefetch.h"
#include "gradus/data/detail/source.h"
#include "gradus/data/loader.h"

namespace gradus::data::detail {

class Loader {
 public:
  Loader(std::unique_ptr<const Source> source, const DataLoaderOptions& options);

  std::int64_t size() const { return plan().size(); }
  std::int64_t epoch() const { return place_.epoch; }
  std::int64_t batch_rows() const { return batch_rows_; }
  std::string fingerprint() const;
  StateDict state_dict() const;
  void load_state_dict(const StateDict& dict);

  void next(std::span<Tensor> batch);

  /// A number identifies each loop: another loop, next() and load_state_dict() invalidate it.
  std::uint64_t begin_loop();
  bool next_of_loop(std::uint64_t number, std::span<Tensor> batch);
  void end_loop(std::uint64_t number);

 private:
  struct Place {
    std::uint64_t seed = 0;
    std::int64_t epoch = 0, handed_out = 0;  // batches of this epoch
  };
  Plan plan_of(const Place& place) const;
  const Plan& plan() const;
  void begin_next_epoch();
  void hand_out(std::span<Tensor> batch);
  std::vector<Tensor> make();
  void read_ahead();
  MakeBatch maker() const;
  void expect_outside() const;
  std::vector<std::pair<const char*, std::int64_t>> identity() const;

  const std::shared_ptr<const Source> source_;
  const DataLoaderOptions options_;
  const DType dtype_ = default_dtype(), products_ = product_dtype();  // the program's, for the item function
  std::vector<std::int64_t> lengths_;  // of every item, if the options have `length`
  Place place_;
  std::int64_t batch_rows_ = 0;               // of the last batch, with all shares
  bool resumed_ = false;                      // the place was loaded; the next loop continues from there
  std::uint64_t loop_ = 0;                    // the number of the newest loop
  mutable std::shared_ptr<const Plan> plan_;  // of this epoch, once needed
  Prefetch::Pointer prefetch_;                // of this epoch, during a loop
};

}  // namespace gradus::data::detail
