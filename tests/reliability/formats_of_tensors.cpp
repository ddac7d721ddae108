// Files of tensors, as formats.h has them.

#include <doctest/doctest.h>

#include <cstring>

#include "gradus/core/io/checkpoint_files.h"
#include "gradus/core/io/npy.h"
#include "gradus/core/random/random.h"
#include "gradus/nn/layers/linear.h"
#include "gradus/ops/ops.h"
#include "gradus/optim/adam.h"
#include "reliability/formats.h"

namespace gradus::test {

namespace {

namespace fs = std::filesystem;

/// One of each type, with the values that are easily lost.
StateDict one_of_each_type() {
  const Tensor numbers = tensor({{0.0, -1.5, 1e-3}, {65504.0, -0.0, 3.0}});
  return {{"layer.weight", numbers.to(f32)},
          {"statistics", tensor({1.0 / 3, 1e-300}).to(f64)},
          {"steps", tensor({-7, 1 << 30})},
          {"mask", tensor({true, false, true})},
          {"half", numbers.to(f16)},
          {"short", numbers.to(bf16)},
          {"one", tensor(2.5)},
          {"none", zeros({0, 3})}};
}

void check_same(const std::string& name, const Tensor& found, const Tensor& expected) {
  CAPTURE(name);
  REQUIRE(found.dtype() == expected.dtype());
  REQUIRE(found.shape() == expected.shape());
  const Array a = found.array().contiguous(), b = expected.array().contiguous();
  CHECK(std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.numel()) * size_of(a.dtype())) == 0);
}

void write_npy(const fs::path& folder) {
  for (const auto& [name, values] : one_of_each_type())
    if (values.dtype() != bf16) save_npy((folder / (name + ".npy")).string(), values);  // npy has no bf16
}

void read_npy(const fs::path& folder) {
  for (const auto& [name, values] : one_of_each_type())
    if (values.dtype() != bf16) check_same(name, load_npy((folder / (name + ".npy")).string()), values);
}

void read_safetensors(const fs::path& folder) {
  Metadata notes;
  const StateDict found = load_safetensors(folder / "x.safetensors", &notes, Halves::keep);
  const StateDict expected = one_of_each_type();
  CHECK(notes == Metadata{{"format", "pt"}, {"note", "na\u00efve"}});
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, values] : expected) check_same(name, found.at(name), values);
}

/// A small training: a model, its optimizer, its random numbers.
struct Training {
  nn::Linear model{3, 2};
  optim::AdamW optimizer{model.parameters(), {.lr = 0.1}};
  Generator random{7, 1};

  Training() {
    model.load_state_dict(
        {{"weight", tensor({{0.5F, -1.0F, 2.0F}, {0.25F, 1.0F, -0.5F}})}, {"bias", tensor({0.0F, 1.0F})}});
  }
  void step() {
    optimizer.zero_grad();
    const auto noise = static_cast<float>(random.uniform());
    model(from_vector(std::vector<float>{1, noise, -2}, {1, 3})).square().sum().backward();
    optimizer.step();
  }
  StateDict state() const {
    StateDict all;
    all.add_all("model.", model.state_dict());
    all.add_all("optimizer.", optimizer.state_dict());
    all.set("random", Tensor(random.get_state()));
    return all;
  }
};

/// Two checkpoints, and the weights that training comes to if it goes on.
void write_checkpoint(const fs::path& folder) {
  Training training;
  for (const char* const step : {"1", "2"}) {
    training.step();
    save_checkpoint((folder / "run").string(), training.state(), {{"step", step}});
  }
  training.step();
  save_safetensors(folder / "next.safetensors", training.model.state_dict());
}

void read_checkpoint(const fs::path& folder) {
  const Checkpoint last = load_checkpoint((folder / "run").string());
  CHECK(last.skipped.empty());
  CHECK(last.metadata.at("step") == "2");
  Training training;
  training.model.load_state_dict(last.tensors.with_prefix_removed("model."));
  training.optimizer.load_state_dict(last.tensors.with_prefix_removed("optimizer."));
  training.random.set_state(last.tensors.at("random").array());
  training.step();
  CHECK(training.optimizer.steps() == 3);
  const StateDict next = load_safetensors(folder / "next.safetensors");
  for (const auto& entry : training.model.state_dict()) {
    CAPTURE(entry.first);
    CHECK(allclose(entry.second, next.at(entry.first), 1e-6));
  }
}

}  // namespace

std::vector<Format> formats_of_tensors() {
  return {{"npy", write_npy, read_npy},
          {"safetensors",
           [](const fs::path& folder) {
             save_safetensors(folder / "x.safetensors", one_of_each_type(),
                              {{"format", "pt"}, {"note", "na\u00efve"}});
           },
           read_safetensors},
          {"checkpoint", write_checkpoint, read_checkpoint}};
}

}  // namespace gradus::test
