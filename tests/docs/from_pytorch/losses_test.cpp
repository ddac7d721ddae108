// Rows of docs/from_pytorch.md: a comment with the PyTorch call, and the line it becomes.

#include <doctest/doctest.h>

#include "docs/from_pytorch/gives.h"
#include "gradus/gradus.h"

namespace {

using docs::gives;

TEST_CASE("from PyTorch: losses") {
  using namespace gradus;
  const Tensor logits = tensor({{2.0, 0.0, -1.0}, {0.0, 1.0, 0.0}}), target = tensor({0, 2});
  const Tensor y = tensor({{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}), p = tensor({{0.7, 0.2, 0.1}, {0.1, 0.8, 0.1}});
  const Tensor weight = tensor({1.0, 2.0, 3.0}), volume = arange(12.0).reshape({1, 3, 4});
  const Tensor labels = tensor({{0, 1, 2, 0}});
  // [losses]
  // py: F.cross_entropy(logits, target)
  gives(cross_entropy(logits, target), "0.8606");
  // py: F.cross_entropy(volume, labels)
  // note: classes are the last axis, not axis 1
  gives(cross_entropy(volume.transpose(1, 2), labels), "5.0185");
  // py: F.cross_entropy(logits, target, weight=weight)
  gives(cross_entropy(logits, target, {.weight = weight}), "1.2060");
  // py: F.cross_entropy(logits, target, ignore_index=0)
  // note: 0 if all are ignored (PyTorch: NaN)
  gives(cross_entropy(logits, target, {.ignore_index = 0}), "1.5514");
  // py: F.cross_entropy(logits, target, label_smoothing=0.1)
  gives(cross_entropy(logits, target, {.label_smoothing = 0.1}), "0.9273");
  // py: F.cross_entropy(logits, target, reduction="none")
  gives(cross_entropy(logits, target, {.reduction = Reduction::none}), "[0.1698, 1.5514]");
  // py: F.cross_entropy(logits, p)
  // note: soft targets
  gives(cross_entropy(logits, p), "0.8106");
  // py: F.nll_loss(F.log_softmax(logits, -1), target)
  gives(nll_loss(log_softmax(logits, -1), target), "0.8606");
  // py: F.mse_loss(logits, y)
  gives(mse_loss(logits, y), "0.3333");
  // py: F.mse_loss(logits, y, reduction="sum")
  gives(mse_loss(logits, y, Reduction::sum), "2.");
  // py: F.l1_loss(logits, y)
  gives(l1_loss(logits, y), "0.3333");
  // py: F.huber_loss(logits, y)
  gives(huber_loss(logits, y), "0.1667");
  // py: F.smooth_l1_loss(logits, y)
  gives(huber_loss(logits, y), "0.1667");
  // py: F.kl_div(F.log_softmax(logits, -1), p, reduction="sum")
  gives(kl_div(log_softmax(logits, -1), p, Reduction::sum), "0.1804");
  // py: F.kl_div(F.log_softmax(logits, -1), p, reduction="batchmean")
  gives(kl_div(log_softmax(logits, -1), p, Reduction::sum) / p.size(0), "0.0902");
  // py: F.binary_cross_entropy_with_logits(logits, y)
  gives(binary_cross_entropy_with_logits(logits, y), "0.4721");
  // py: F.binary_cross_entropy(p, y)
  // note: NaN where p = y = 0 or 1, where PyTorch clamps; better use the logits
  gives(-(y * p.log() + (1 - y) * log1p(-p)).mean(), "0.1865");
  // py: nn.CrossEntropyLoss()(logits, target)
  // note: losses are functions; so for nn.MSELoss and the others
  gives(cross_entropy(logits, target), "0.8606");
  // py: (logits.argmax(-1) == target).float().mean()
  // note: a double
  gives(data::accuracy(logits, target), "0.5");
  // py: F.ctc_loss, triplet_margin_loss, hinge_embedding_loss
  // here: not here
  // [/losses]
}

}  // namespace
