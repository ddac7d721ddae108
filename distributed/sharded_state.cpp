// The state of a sharded optimizer as that of a whole one, and back.

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "gradus/core/check.h"
#include "gradus/core/io/checkpoint_parts.h"
#include "gradus/distributed/detail/gradients.h"
#include "gradus/distributed/sharded.h"

namespace gradus::distributed {

using namespace detail;

namespace {

/// The number and the name in "3.exp_avg", of which every rank has its elements; nothing for counts.
struct Key {
  std::size_t number;
  std::string name;
};
std::optional<Key> key_of(const std::string& text) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop == end || *stop != '.') return std::nullopt;
  Key key{number, std::string(stop + 1, end)};
  return key.name == "step" ? std::nullopt : std::optional(std::move(key));
}

}  // namespace

StateDict ShardedOptimizer::state_dict() const {
  const Gradients& all = parallel_.gradients();
  const StateDict mine = inner_->state_dict();
  std::vector<std::string> names;
  for (const auto& [text, values] : mine)
    if (const auto key = key_of(text); key && std::find(names.begin(), names.end(), key->name) == names.end())
      names.push_back(key->name);
  StateDict whole = mine;
  for (const std::string& name : names) {
    std::vector<Array> flat(all.parameters().size());
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Tensor* const values = mine.find(std::to_string(i) + "." + name);
      if (!values) continue;
      const std::size_t number = parts_[i].number;
      const Range own = all.layout().own(number, parallel_.world().rank());
      flat[number] = Array::zeros({all.parameters()[number].numel()}, values->dtype());
      flat[number].slice(0, own.begin, own.end).copy_(values->array());
    }
    all.share(flat);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (const Array& values = flat[parts_[i].number]; values.defined())
        whole.set(std::to_string(i) + "." + name,
                  Tensor(values.reshape(all.parameters()[parts_[i].number].shape())));
  }
  return whole;
}

StateDict ShardedOptimizer::pieces() const {
  const Gradients& all = parallel_.gradients();
  const int rank = parallel_.world().rank();
  StateDict mine;
  for (const auto& [text, values] : inner_->state_dict()) {
    const std::optional<Key> key = key_of(text);
    if (!key || key->number >= parts_.size()) {
      mine.set(text, values);  // a count, which all ranks have
      continue;
    }
    const std::size_t number = parts_[key->number].number;
    const Tensor& parameter = all.parameters()[number];
    const Range own = all.layout().own(number, rank);
    if (own.size() > 0 || (parameter.numel() == 0 && rank == 0))
      mine.set(io::piece_name(text, own.begin, parameter.shape()), values);
  }
  return mine;
}

void ShardedOptimizer::load_state_dict(const StateDict& dict) {
  const Gradients& all = parallel_.gradients();
  StateDict mine;
  for (const auto& [text, values] : dict) {
    const std::optional<Key> key = key_of(text);
    if (!key || key->number >= parts_.size() || !values.defined()) {
      mine.set(text, values);  // a count, or what the optimizer rejects
      continue;
    }
    const std::size_t number = parts_[key->number].number;
    const Tensor& parameter = all.parameters()[number];
    check(values.shape() == parameter.shape(), "Sharded: the {} of {} {} is {} in the state, expects {}",
          key->name, *parameter.node()->label ? parameter.node()->label : "a parameter", parameter.shape(),
          values.shape(), parameter.shape());
    const Range own = all.layout().own(number, parallel_.world().rank());
    mine.set(text, Tensor(values.array().reshape({values.numel()}).slice(0, own.begin, own.end)));
  }
  inner_->load_state_dict(mine);
  parallel_.world().expect_same("The steps of a sharded optimizer", std::to_string(inner_->steps()));
}

}  // namespace gradus::distributed
