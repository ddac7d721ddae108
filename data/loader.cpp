#include "gradus/data/loader.h"

#include "gradus/core/detail/format.h"
#include "gradus/data/detail/loader.h"

namespace gradus::data::detail {

namespace {

std::unique_ptr<const Source> whole(std::span<const Tensor> tensors, const DataLoaderOptions& options) {
  check(options.pad.empty(),
        "DataLoader: pad is for items of different lengths, but all rows of a tensor have the same length: "
        "leave it out, or give items by a function of an index");
  return tensor_source(tensors);
}

}  // namespace

LoaderBase::LoaderBase(std::span<const Tensor> tensors, const DataLoaderOptions& options)
    : loader_(std::make_shared<Loader>(whole(tensors, options), options)) {}

LoaderBase::LoaderBase(std::int64_t items, std::size_t parts, ItemFunction function,
                       const DataLoaderOptions& options)
    : loader_(std::make_shared<Loader>(function_source(items, parts, std::move(function), options.pad),
                                       options)) {}

std::shared_ptr<Loader> LoaderBase::loader() const {
  check(loader_ != nullptr, "DataLoader: this loader was moved from: use the one it was moved to");
  return loader_;
}

std::int64_t LoaderBase::size() const { return loader()->size(); }
std::int64_t LoaderBase::epoch() const { return loader()->epoch(); }
std::int64_t LoaderBase::batch_rows() const { return loader()->batch_rows(); }
std::string LoaderBase::fingerprint() const { return loader()->fingerprint(); }
StateDict LoaderBase::state_dict() const { return loader()->state_dict(); }
void LoaderBase::load_state_dict(const StateDict& dict) { loader()->load_state_dict(dict); }
void LoaderBase::next(std::span<Tensor> batch) { loader()->next(batch); }

Loop::Loop(std::shared_ptr<Loader> loader) : loader_(std::move(loader)), number_(loader_->begin_loop()) {}
Loop::~Loop() {
  if (loader_) loader_->end_loop(number_);
}
bool Loop::next(std::span<Tensor> batch) { return loader_->next_of_loop(number_, batch); }

}  // namespace gradus::data::detail
