#pragma once

namespace gradus::nn {

/// While one exists, the random functions of nn::init leave tensors on this thread unchanged: the model being
/// made will get its values from a file.
class [[nodiscard]] NoRandomInit {
 public:
  [[nodiscard]] NoRandomInit() : before_(on_) { on_ = true; }
  ~NoRandomInit() { on_ = before_; }
  NoRandomInit(const NoRandomInit&) = delete;
  NoRandomInit& operator=(const NoRandomInit&) = delete;

  static bool on() { return on_; }

 private:
  static inline thread_local bool on_ = false;
  bool before_;
};

}  // namespace gradus::nn
