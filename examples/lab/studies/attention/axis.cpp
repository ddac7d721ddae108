#include "lab/studies/attention/axis.h"

#include <cmath>
#include <set>

#include "gradus/gradus.h"
#include "lab/studies/attention/inside.h"

namespace gradus::lab::attention {

Tensor weights_over(SoftmaxAxis axis, const nn::Module& block, const Tensor& input, std::int64_t heads) {
  const std::int64_t length = input.size(1);
  const Tensor future = triu(ones({length, length}), 1) > 0.5;
  return softmax(masked_fill(scores_of(queries_and_keys(block, input, heads)), future, -1e9),
                 static_cast<std::int64_t>(axis));
}

namespace {

struct AxisBlock : nn::BlockParts {
  AxisBlock(const nn::BlockOptions& options, SoftmaxAxis axis)
      : BlockParts("AxisBlock", options), heads_(options.heads), axis_(axis) {}

  Tensor operator()(const Tensor& x) const {
    const Tensor h = x + attend(norm1(x));
    return report(h + ffn(norm2(h)));
  }

 private:
  Tensor attend(const Tensor& x) const {
    const std::int64_t c = x.size(2);
    const Tensor v =
        linear(x, self_attn.in_proj_weight.slice(0, 2 * c), self_attn.in_proj_bias.slice(0, 2 * c));
    const Tensor apart = v.reshape({x.size(0), x.size(1), heads_, c / heads_}).transpose(1, 2);
    const Tensor y = matmul(weights_over(axis_, *this, x, heads_), apart);
    return self_attn.out_proj(y.transpose(1, 2).reshape(x.shape()));
  }
  std::int64_t heads_;
  SoftmaxAxis axis_;
};

}  // namespace

nn::Placement pre_ln_over(SoftmaxAxis axis) {
  nn::Placement placement{.name = "softmax over another axis", .final_norm = true};
  placement.block = [axis](const nn::BlockOptions& options) { return AxisBlock(options, axis); };
  return placement;
}

double best_loss_on(const Batch& documents) {
  const std::int64_t length = documents.inputs.size(1);
  const std::vector<std::int64_t> ids = documents.inputs.to_vector<std::int64_t>();
  const RecallOptions language;
  double sum = 0;
  for (std::int64_t b = 0; b < documents.inputs.size(0); ++b) {
    std::set<std::int64_t> opened;
    for (std::int64_t t = 0; t < length; ++t) {
      const std::int64_t token = ids[static_cast<std::size_t>(b * length + t)];
      if (t % 2 == 0)
        sum += std::log(static_cast<double>(language.boxes));  // a box's name
      else if (opened.insert(token).second)
        sum += std::log(static_cast<double>(language.things));  // its thing, when it is new
    }
  }
  return sum / static_cast<double>(ids.size());
}

}  // namespace gradus::lab::attention
