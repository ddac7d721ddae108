#pragma once
// Loader: what a DataLoader is made of. It knows the place in the epoch; the plan knows which items make a
// batch, the source makes it, on this thread or ahead on another.

#include <memory>
#include <optional>
#include <vector>

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
  StateDict state_dict() const;
  void load_state_dict(const StateDict& dict);

  void next(std::span<Tensor> batch);

  /// A loop is known by its number: another one, next() and load_state_dict() end its claim.
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
  void begin_epoch(std::int64_t epoch);
  void hand_out(std::span<Tensor> batch);
  std::vector<Tensor> make();
  void read_ahead();
  MakeBatch maker() const;
  void expect_outside() const;
  std::vector<std::pair<const char*, std::int64_t>> identity() const;

  const std::shared_ptr<const Source> source_;
  const DataLoaderOptions options_;
  const DType dtype_ = default_dtype();  // that of the program, for the function
  std::vector<std::int64_t> lengths_;    // of every item, where asked for
  Place place_;
  bool resumed_ = false;                      // the place was loaded, and the next loop goes on from there
  std::uint64_t loop_ = 0;                    // the number of the newest loop
  mutable std::shared_ptr<const Plan> plan_;  // of this epoch, once needed
  Prefetch::Pointer prefetch_;                // of this epoch, while there is a loop
};

}  // namespace gradus::data::detail
