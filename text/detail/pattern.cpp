#include "gradus/text/detail/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <new>

#include "gradus/core/check.h"
#include "gradus/core/io/printable.h"

namespace gradus::text::detail {
namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 25;  // for backtracking; allocated as needed

std::string message_of(int error) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

/// PCRE2 counts U+180E as white space, as Unicode did until 2013. So this replaces \s, inside and outside of
/// brackets, by the characters of Unicode's White_Space, and \S outside of brackets by all others.
std::string with_white_space(std::string_view expression) {
  constexpr std::string_view kSpaces =
      R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
  std::string out;
  bool in_brackets = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c != '\\' || i + 1 == expression.size()) {
      if (c == '[') in_brackets = true;
      if (c == ']') in_brackets = false;
      out += c;
      continue;
    }
    const char escaped = expression[++i];
    if (escaped == 's' && in_brackets)
      out += kSpaces;
    else if (escaped == 's')
      out.append("[").append(kSpaces).append("]");
    else if (escaped == 'S' && !in_brackets)
      out.append("[^").append(kSpaces).append("]");
    else
      out.append({c, escaped});
  }
  return out;
}

}  // namespace

struct Pattern::Code {
  Code(const std::string& who, const std::string& expression, const std::string& whole) {
    int error = 0;
    PCRE2_SIZE at = 0;
    code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(whole.data()), whole.size(),
                         PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at, nullptr);
    check(code != nullptr, "{}: the pattern {} is invalid at {}: {}", who, io::quote(expression),
          io::quote(whole.substr(std::min(at, whole.size()))), message_of(error));
    fast = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
  }
  ~Code() { pcre2_code_free(code); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  pcre2_code* code;
  bool fast = false;
};

Pattern::Pattern(const std::string& who, std::string expression)
    : who_(who), expression_(std::move(expression)) {
  const std::string one = with_white_space(expression_);
  code_ = std::make_shared<const Code>(who, expression_, one);
  chain_ = std::make_shared<const Code>(who, expression_, "(?:(?>" + one + ")(?C1))*+");
}

struct Pattern::Matcher::State {
  State()
      : data(pcre2_match_data_create(1, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        stack(pcre2_jit_stack_create(1 << 15, kStackBytes, nullptr)) {
    if (data == nullptr || context == nullptr) throw std::bad_alloc();
    if (stack != nullptr) pcre2_jit_stack_assign(context, nullptr, stack);
    pcre2_set_callout(context, on_match, this);
  }
  ~State() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Must not throw through PCRE2, which is C: only records the match, and stops when there is no more room.
  static int on_match(pcre2_callout_block* block, void* self) {
    auto& state = *static_cast<State*>(self);
    state.ends[state.count++] = block->current_position;
    return state.count < state.ends.size() ? 0 : PCRE2_ERROR_CALLOUT;
  }

  pcre2_match_data* data;
  pcre2_match_context* context;
  pcre2_jit_stack* stack;
  std::array<std::size_t, 4096> ends;
  std::size_t count = 0;
};

Pattern::Matcher::Matcher(const Pattern& pattern) : pattern_(&pattern), state_(std::make_shared<State>()) {}

int Pattern::Matcher::run(bool chained, std::string_view text, std::size_t from) {
  const Code& code = chained ? *pattern_->chain_ : *pattern_->code_;
  const auto match = code.fast ? pcre2_jit_match : pcre2_match;
  state_->count = 0;
  const int found = match(code.code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                          code.fast ? 0 : PCRE2_NO_UTF_CHECK, state_->data, state_->context);
  check(found >= 0 || found == PCRE2_ERROR_NOMATCH || found == PCRE2_ERROR_CALLOUT,
        "{}: the pattern {} cannot be matched near byte {} of the text: {}", pattern_->who_,
        io::quote(pattern_->expression_), from, message_of(found));
  return found;
}

std::span<const std::size_t> Pattern::Matcher::chain(std::string_view text, std::size_t from) {
  run(true, text, from);
  return std::span(state_->ends).first(state_->count);
}

Pattern::Matcher::Match Pattern::Matcher::find(std::string_view text, std::size_t from) {
  while (from < text.size()) {
    if (run(false, text, from) == PCRE2_ERROR_NOMATCH) break;
    const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(state_->data);
    check(ends[0] >= from && ends[1] >= ends[0], "{}: the pattern {} moves backwards; it cannot split text",
          pattern_->who_, io::quote(pattern_->expression_));
    if (ends[1] > ends[0]) return {ends[0], ends[1]};
    from = ends[1] + 1;
    while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
  }
  return {text.size(), text.size()};
}

}  // namespace gradus::text::detail
