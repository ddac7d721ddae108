#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace gradus::lab {

/// Data that all runs of a study read, such as a text: made when the first run asks for it.
/// `const auto text = std::make_shared<Shared<Task>>([=] { return Task(file, 32); }); ... text->get()`
template <class T>
class Shared {
 public:
  explicit Shared(std::function<T()> make) : make_(std::move(make)) {}

  const T& get() {
    std::call_once(once_, [&] { value_.emplace(make_()); });
    return *value_;
  }

 private:
  std::function<T()> make_;
  std::once_flag once_;
  std::optional<T> value_;
};

}  // namespace gradus::lab
