// The WebAssembly module's JavaScript interface.

#include <string>

#include "browser/answer.h"

extern "C" {

/// Takes and returns JSON; the answer is valid until the next call.
const char* gradus_answer(const char* request);

const char* gradus_answer(const char* request) {
  static std::string text;
  text = gradus::browser::answer(request);
  return text.c_str();
}
}
