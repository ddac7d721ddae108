#include "gradus/data/detail/source.h"

#include "gradus/core/detail/format.h"
#include "gradus/core/io/crc32.h"
#include "gradus/data/detail/collate.h"
#include "gradus/ops/ops.h"

namespace gradus::data::detail {

namespace {

class TensorSource final : public Source {
 public:
  explicit TensorSource(std::span<const Tensor> tensors) : tensors_(tensors.begin(), tensors.end()) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const Tensor& x = tensors_[i];
      check(x.defined(), "DataLoader: tensor {} is undefined: give it a value first", i);
      check(x.dim() >= 1, "DataLoader: tensor {} has no axes, expects [items, ...]", i);
      check(!x.requires_grad(),
            "DataLoader: tensor {} {} requires grad, and batches have no tape: pass its .detach(), or pick "
            "rows with x[ids]",
            i, x.shape());
      check(x.size(0) == tensors_[0].size(0),
            "DataLoader: tensors 0 {} and {} {} have different numbers of items: expects equal first axes",
            tensors_[0].shape(), i, x.shape());
    }
  }
  std::int64_t items() const override { return tensors_[0].size(0); }
  std::size_t parts() const override { return tensors_.size(); }
  bool draws() const override { return false; }
  std::string fingerprint() const override {
    std::string text;
    for (const Tensor& x : tensors_) {
      const Array dense = x.array().contiguous();
      const auto bytes = static_cast<std::size_t>(dense.numel()) * size_of(dense.dtype());
      text += fmt::format(", {} {} {:08x}", x.dtype(), x.shape(), io::crc32(dense.raw(), bytes));
    }
    return text;
  }
  std::vector<Tensor> batch(const Array& ids, Draw, const std::atomic<bool>&) const override {
    std::vector<Tensor> result;
    for (const Tensor& x : tensors_) result.push_back(index_select(x, 0, Tensor(ids)));
    return result;
  }

 private:
  std::vector<Tensor> tensors_;
};

class FunctionSource final : public Source {
 public:
  FunctionSource(std::int64_t items, std::size_t parts, ItemFunction function, std::vector<Scalar> pad)
      : items_(items), parts_(parts), function_(std::move(function)), pad_(std::move(pad)) {
    check(pad_.size() <= 1 || pad_.size() == parts_,
          "DataLoader: pad has {} values, expects 1, or one for each of an item's {} parts", pad_.size(),
          parts_);
  }
  std::int64_t items() const override { return items_; }
  std::size_t parts() const override { return parts_; }
  bool draws() const override { return true; }

  std::vector<Tensor> batch(const Array& ids, Draw draw, const std::atomic<bool>& stop) const override {
    const auto count = static_cast<std::size_t>(ids.numel());
    const std::span<const std::int64_t> indices(ids.data<std::int64_t>(), count);
    std::vector<std::vector<Tensor>> columns(parts_, std::vector<Tensor>(count));
    std::vector<Tensor> item(parts_);
    Generator& numbers = default_generator();
    for (std::size_t k = 0; k < count && !stop.load(std::memory_order_relaxed); ++k) {
      numbers = generator_of(draw.seed, draw.epoch, indices[k]);
      function_(indices[k], numbers, item);
      for (std::size_t part = 0; part < parts_; ++part) columns[part][k] = std::move(item[part]);
    }
    std::vector<Tensor> result;
    for (std::size_t part = 0; part < parts_ && !stop.load(std::memory_order_relaxed); ++part) {
      const Scalar* const pad = pad_.empty() ? nullptr : &pad_[pad_.size() > 1 ? part : 0];
      result.push_back(collate(columns[part], indices, part, pad));
    }
    return result;
  }

 private:
  std::int64_t items_;
  std::size_t parts_;
  ItemFunction function_;
  std::vector<Scalar> pad_;
};

}  // namespace

Generator generator_of(std::uint64_t seed, std::int64_t epoch, std::int64_t index) {
  const auto words = philox(seed, static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(epoch));
  return Generator(words[0] | std::uint64_t{words[1]} << 32, words[2] | std::uint64_t{words[3]} << 32);
}

std::unique_ptr<const Source> tensor_source(std::span<const Tensor> tensors) {
  return std::make_unique<TensorSource>(tensors);
}

std::unique_ptr<const Source> function_source(std::int64_t items, std::size_t parts, ItemFunction function,
                                              std::vector<Scalar> pad) {
  return std::make_unique<FunctionSource>(items, parts, std::move(function), std::move(pad));
}

}  // namespace gradus::data::detail
