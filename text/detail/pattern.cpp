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

/// The length of the class [:alpha:] or another of POSIX at the beginning of a text, or 0.
std::size_t posix_class(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("^abcdefghijklmnopqrstuvwxyz", 2), text.size());
  return text.starts_with("[:") && text.substr(end).starts_with(":]") ? end + 2 : 0;
}

/// PCRE2 counts U+180E as white space, as Unicode did until 2013. So this replaces \s, inside and outside of
/// brackets, by the characters of Unicode's White_Space, and \S outside of brackets by all others. Rejects
/// what means something else in the patterns of other libraries.
std::string with_white_space(const std::string& who, const std::string& expression) {
  constexpr std::string_view kSpaces =
      R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
  std::string out;
  bool in_brackets = false;
  std::size_t first = 0;  // where the characters in the brackets begin; a ] there is one of them
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c != '\\' || i + 1 == expression.size()) {
      const std::string_view rest = std::string_view(expression).substr(i);
      if (in_brackets && rest.starts_with("&&"))
        fail_with("{}: the pattern {} has && in brackets, an intersection, which is not supported", who,
                  io::quote(expression));
      const std::size_t more = in_brackets ? posix_class(rest) : 0;
      if (more > 0) {
        out.append(expression, i, more);
        i += more - 1;
        continue;
      }
      if (c == '[' && !in_brackets) {
        in_brackets = true;
        first = i + (rest.starts_with("[^") ? 2 : 1);
      }
      if (c == ']' && i > first) in_brackets = false;
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

/// Whether the end of each match is all that a chain of them needs. With \K, a match begins later; a pattern
/// that contains itself would contain the chain.
bool can_chain(std::string_view expression) {
  const auto has = [&](std::string_view part) { return expression.find(part) != std::string_view::npos; };
  return !has("\\K") && !has("(?R") && !has("(?0") && !has("\\g<0") && !has("\\g'0");
}

}  // namespace

struct Pattern::Code {
  Code(const std::string& who, const std::string& expression, const std::string& whole,
       std::size_t callout_end = PCRE2_UNSET)
      : callout(callout_end) {
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
  std::size_t callout;  // the end of the one behind a match in a chain, unlike those of the expression
  pcre2_code* code;
  bool fast = false;
};

Pattern::Pattern(const std::string& who, std::string expression)
    : who_(who), expression_(std::move(expression)) {
  const std::string one = with_white_space(who, expression_);
  code_ = std::make_shared<const Code>(who, expression_, one);
  if (!can_chain(one)) return;
  const std::string chained = "(?:(?>" + one + ")(?C1)";
  chain_ = std::make_shared<const Code>(who, expression_, chained + ")*+", chained.size());
}

struct Pattern::Matcher::State {
  State()
      : data(pcre2_match_data_create(1, nullptr)),
        context(pcre2_match_context_create(nullptr)),
        stack(pcre2_jit_stack_create(1 << 15, kStackBytes, nullptr)) {
    // never run: PCRE2 returns null only without memory
    if (data == nullptr || context == nullptr) throw std::bad_alloc();
    // never run: PCRE2 returns null only without memory, or where it cannot compile to machine code
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
    if (block->pattern_position != state.callout) return 0;
    state.ends[state.count++] = block->current_position;
    return state.count < state.ends.size() ? 0 : PCRE2_ERROR_CALLOUT;
  }

  pcre2_match_data* data;
  pcre2_match_context* context;
  pcre2_jit_stack* stack;
  std::array<std::size_t, 4096> ends;
  std::size_t count = 0, callout = PCRE2_UNSET;
};

Pattern::Matcher::Matcher(const Pattern& pattern) : pattern_(&pattern), state_(std::make_shared<State>()) {}

int Pattern::Matcher::run(bool chained, std::string_view text, std::size_t from) {
  const Code& code = chained ? *pattern_->chain_ : *pattern_->code_;
  const auto match = code.fast ? pcre2_jit_match : pcre2_match;
  state_->count = 0;
  state_->callout = code.callout;
  const int found = match(code.code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                          code.fast ? 0 : PCRE2_NO_UTF_CHECK, state_->data, state_->context);
  check(found >= 0 || found == PCRE2_ERROR_NOMATCH || found == PCRE2_ERROR_CALLOUT,
        "{}: the pattern {} cannot be matched near byte {} of the text: {}", pattern_->who_,
        io::quote(pattern_->expression_), from, message_of(found));
  return found;
}

std::span<const std::size_t> Pattern::Matcher::chain(std::string_view text, std::size_t from) {
  if (pattern_->chain_ == nullptr) return {};
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
