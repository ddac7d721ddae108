#include "gradus/nn/attention/memory_keys.h"

#include "gradus/core/detail/format.h"
#include "gradus/ops/ops.h"

namespace gradus::nn::detail {

void Unchanging::add(const Tensor& x) { arrays_.push_back(x.array()); }

bool Unchanging::begins_with(const Tensor& x) const {
  return !arrays_.empty() && arrays_[0].storage() == x.array().storage();
}

std::vector<std::uint32_t> Unchanging::now() const {
  std::vector<std::uint32_t> versions;
  for (const Array& x : arrays_) versions.push_back(x.storage().version());
  return versions;
}

MemoryKeys::MemoryKeys(const Tensor& memory, const Tensor& padding, const Tensor& k, const Tensor& v,
                       const std::vector<Tensor>& weights)
    : memory_(memory.detach()), k_(k), v_(v) {
  if (padding.defined()) padding_ = padding.clone();
  for (const Tensor& w : weights) weights_.add(w);
  weights_.remember();
  memory_values_.add(memory_);
  memory_values_.remember();
}

void MemoryKeys::expect(const Tensor& memory, const Tensor& weight, const Tensor& x) const {
  check(weights_.begins_with(weight),
        "KeyValueCache: was made by another model or layer: call this one's new_cache()");
  check(weights_.unchanged(), "KeyValueCache: the weights have changed since it was filled: clear() it");
  check(memory.array().raw() == memory_.array().raw() && memory.shape() == memory_.shape() &&
            memory.strides() == memory_.strides() && memory_values_.unchanged(),
        "KeyValueCache: holds the keys of another memory than this one, {}: pass every call the same tensor, "
        "also after select(), or clear() the cache first",
        memory.shape());
  check(x.size(0) == k_.size(0) * shared_, "KeyValueCache: made for a batch of {}, got x {}",
        k_.size(0) * shared_, x.shape());
}

void MemoryKeys::expect_padding(const Tensor& padding) const {
  const bool same = padding.defined() && padding_.defined() ? (padding == padding_).all()
                                                            : padding.defined() == padding_.defined();
  check(same,
        "KeyValueCache: memory's key_padding_mask differs from that of the first call: pass every call "
        "the same one, also after select(), or clear() the cache first");
}

namespace {

/// Rows of memory, each repeated `shared` times.
struct Runs {
  std::vector<std::int64_t> rows;
  std::int64_t shared = 1;
};

/// The runs of equal rows, if all have the same length; else one run per row.
Runs runs_of(const std::vector<std::int64_t>& wanted) {
  Runs runs;
  std::vector<std::int64_t> lengths;
  for (const std::int64_t row : wanted) {
    if (runs.rows.empty() || runs.rows.back() != row) {
      runs.rows.push_back(row);
      lengths.push_back(0);
    }
    ++lengths.back();
  }
  for (const std::int64_t length : lengths)
    if (length != lengths[0]) return {wanted, 1};
  if (!lengths.empty()) runs.shared = lengths[0];
  return runs;
}

}  // namespace

void MemoryKeys::select(const Tensor& rows) {
  std::vector<std::int64_t> wanted = rows.to_vector<std::int64_t>();
  for (std::int64_t& row : wanted) row /= shared_;
  const Runs runs = runs_of(wanted);
  bool all_in_order = std::ssize(runs.rows) == k_.size(0);
  for (std::size_t i = 0; all_in_order && i < runs.rows.size(); ++i)
    all_in_order = runs.rows[i] == static_cast<std::int64_t>(i);
  if (!all_in_order) {
    const Tensor kept = from_vector(runs.rows, {std::ssize(runs.rows)});
    const Tensor k = index_select(k_, 0, kept), v = index_select(v_, 0, kept);
    sources_ = sources_.defined() ? index_select(sources_, 0, kept) : kept;
    k_ = k;
    v_ = v;
  }
  shared_ = runs.shared;
}

Tensor MemoryKeys::still_read(const Tensor& mask) const {
  return sources_.defined() ? index_select(mask, 0, sources_) : mask;
}

}  // namespace gradus::nn::detail
