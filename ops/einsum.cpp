// Einstein summation: y = sum over the letters missing from the result of the product of all operands, each
// indexed by its letters. Operands are combined in pairs, left to right. Each letter of a pair is one of:
//
//   in one only, not needed later   summed there first
//   in both, needed later           batch    } a [batch.., rows.., summed..] matmul b [batch.., summed..,
//   in both, not needed later       summed   } columns..]; a broadcast product if nothing is summed
//   in one only, needed later       rows of a, or columns of b
//
// A letter repeated in one operand takes its diagonal: every (n + 1)-th element of the two axes as one. An
// axis of size 1 matched with a longer one broadcasts: it is dropped. A composition: needs no derivative.

#include <algorithm>
#include <map>

#include "gradus/core/tape/record.h"
#include "gradus/ops/array/array_ops.h"
#include "gradus/ops/detail/operand.h"
#include "gradus/ops/ops.h"

namespace gradus {

namespace {

/// One char an axis. The axes of an ellipsis have digits: '0' is the last one, so that they meet from the
/// right, as broadcast axes do.
using Letters = std::string;

struct Term {
  Tensor x;
  Letters letters;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool has(const Letters& letters, char c) { return letters.find(c) != Letters::npos; }

Letters ellipsis_axes(int count) {
  Letters axes;
  while (count > 0) axes += static_cast<char>('0' + --count);
  return axes;
}

class Equation {
 public:
  explicit Equation(const std::string& text) : text_(text) {
    std::string clean;
    std::copy_if(text.begin(), text.end(), std::back_inserter(clean), [](char c) { return c != ' '; });
    const std::size_t arrow = clean.find("->");
    has_result_ = arrow != std::string::npos;
    if (has_result_) result_ = clean.substr(arrow + 2);
    std::string left = clean.substr(0, arrow);
    for (std::size_t comma; (comma = left.find(',')) != std::string::npos; left.erase(0, comma + 1))
      parts_.push_back(left.substr(0, comma));
    parts_.push_back(left);
    for (const std::string& part : parts_) check_part(part);
    check_part(result_);
  }

  std::size_t operands() const { return parts_.size(); }

  /// The letters of operand k, whose shape this is.
  Letters letters(std::size_t k, const Shape& shape) {
    const std::string& part = parts_[k];
    const std::size_t dots = part.find("...");
    const int named = static_cast<int>(part.size()) - (dots == std::string::npos ? 0 : 3);
    check(dots == std::string::npos ? named == shape.size() : named <= shape.size(),
          "einsum: \"{}\" has {}{} letters for operand {}, but that is {}", text_,
          dots == std::string::npos ? "" : "at least ", named, k, shape);
    if (dots == std::string::npos) return part;
    ellipsis_ = std::max(ellipsis_, shape.size() - named);
    return part.substr(0, dots) + ellipsis_axes(shape.size() - named) + part.substr(dots + 3);
  }

  /// The result's letters, once all operands' are known.
  Letters result(const std::vector<Term>& terms) const {
    Letters all;
    for (const Term& term : terms) all += term.letters;
    if (!has_result_) {
      Letters once;
      for (const char c : all)
        if (is_letter(c) && std::count(all.begin(), all.end(), c) == 1) once += c;
      std::sort(once.begin(), once.end());
      return ellipsis_axes(ellipsis_) + once;
    }
    Letters letters = result_;
    if (const std::size_t dots = letters.find("..."); dots != std::string::npos)
      letters.replace(dots, 3, ellipsis_axes(ellipsis_));
    for (const char c : letters) {
      check(has(all, c), "einsum: the result of \"{}\" has {}, which no operand has", text_, c);
      check(std::count(letters.begin(), letters.end(), c) == 1, "einsum: the result of \"{}\" has {} twice",
            text_, c);
    }
    return letters;
  }

 private:
  void check_part(const std::string& part) const {
    std::string letters = part;
    if (const std::size_t dots = letters.find("..."); dots != std::string::npos) letters.erase(dots, 3);
    check(std::all_of(letters.begin(), letters.end(), is_letter),
          "einsum: \"{}\" has \"{}\": expects letters, one for each axis, and at most one ellipsis ...",
          text_, part);
  }

  const std::string& text_;
  std::vector<std::string> parts_;
  std::string result_;
  bool has_result_ = false;
  int ellipsis_ = 0;
};

int place(const Letters& letters, char c) { return static_cast<int>(letters.find(c)); }

/// The axes of `term` in the order of `order`, which has the same letters.
Tensor in_order(const Term& term, const Letters& order) {
  if (order == term.letters) return term.x;
  Dims axes;
  for (const char c : order) axes.push_back(place(term.letters, c));
  return permute(term.x, axes);
}

/// Every letter once.
Term without_repeats(Term term) {
  for (int first = 0; first < term.x.dim(); ++first) {
    const auto at = static_cast<std::size_t>(first);
    const std::size_t again = term.letters.find(term.letters[at], at + 1);
    if (again == Letters::npos) continue;
    Dims axes = {first, static_cast<std::int64_t>(again)};
    for (int i = 0; i < term.x.dim(); ++i)
      if (!axes.contains(i)) axes.push_back(i);
    const Tensor x = permute(term.x, axes);
    const std::int64_t n = x.shape()[0];
    term.x = slice(flatten(x, 0, 1), 0, 0, {}, n + 1);
    const char letter = term.letters[at];
    term.letters.erase(again, 1).erase(at, 1).insert(0, 1, letter);
    first = -1;
  }
  return term;
}

/// Summed over the letters that are in none of `needed`.
Term summed(Term term, const Letters& needed) {
  Axes axes;
  Letters left;
  for (int i = 0; i < term.x.dim(); ++i) {
    const char c = term.letters[static_cast<std::size_t>(i)];
    if (has(needed, c))
      left += c;
    else
      axes.push_back(i);
  }
  if (axes.empty()) return term;
  return {sum(term.x, axes), left};
}

/// The product of two terms, summed over the letters in both that are not in `needed`.
Term product(const Term& a, const Term& b, const Letters& needed) {
  Letters batch, over, rows, columns;
  for (const char c : a.letters) (!has(b.letters, c) ? rows : has(needed, c) ? batch : over) += c;
  for (const char c : b.letters)
    if (!has(a.letters, c)) columns += c;
  const Letters result = batch + rows + columns;
  check(result.size() <= Dims::kMaxRank,
        "einsum: operands meet in {} axes, and there is no room for more than {}: put them in another order",
        result.size(), Dims::kMaxRank);
  const Tensor x = in_order(a, batch + rows + over), y = in_order(b, batch + over + columns);
  Shape shape, left, right;  // of the result, and of the operands of a product without sums
  const auto size = [&](char c) {
    return has(a.letters, c) ? a.x.size(place(a.letters, c)) : b.x.size(place(b.letters, c));
  };
  for (const char c : result) {
    shape.push_back(size(c));
    left.push_back(has(columns, c) ? 1 : size(c));
    right.push_back(has(rows, c) ? 1 : size(c));
  }
  if (over.empty()) return {reshape(x, left) * reshape(y, right), result};
  const auto count = [&](const Letters& letters) {
    std::int64_t n = 1;
    for (const char c : letters) n *= size(c);
    return n;
  };
  const std::int64_t b0 = count(batch), m = count(rows), k = count(over), n = count(columns);
  return {reshape(matmul(reshape(x, {b0, m, k}), reshape(y, {b0, k, n})), shape), result};
}

}  // namespace

Tensor einsum(const std::string& equation, const std::vector<Tensor>& xs) {
  Equation parsed(equation);
  check(parsed.operands() == xs.size(), "einsum: \"{}\" is for {} operands, got {}", equation,
        parsed.operands(), xs.size());
  std::vector<Term> terms;
  std::map<char, std::int64_t> sizes;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const Array& x = operand("einsum", xs[k]);
    check_floating("einsum", x);
    check_same_dtype("einsum", xs[0].array(), x);
    terms.push_back({xs[k], parsed.letters(k, x.shape())});
    for (int i = 0; i < x.dim(); ++i) {
      const char c = terms[k].letters[static_cast<std::size_t>(i)];
      const std::int64_t n = x.shape()[i], first = x.shape()[place(terms[k].letters, c)];
      check(n == first, "einsum: \"{}\" takes the diagonal of axes of {} and {}, {}, in operand {} {}",
            equation, first, n, c, k, x.shape());
      std::int64_t& size = sizes.try_emplace(c, n).first->second;
      check(size == n || size == 1 || n == 1,
            "einsum: \"{}\": axis {} of operand {} {} has size {}, {} has {}", equation, i, k, x.shape(), n,
            is_letter(c) ? std::string(1, c) : "the ellipsis before it", size);
      if (size == 1) size = n;
    }
  }
  const Letters result = parsed.result(terms);
  for (Term& term : terms) {
    // Broadcast axes are dropped: the operand with the letter's full size represents them.
    for (int i = term.x.dim() - 1; i >= 0; --i)
      if (const auto at = static_cast<std::size_t>(i);
          term.x.shape()[i] == 1 && sizes[term.letters[at]] != 1) {
        term.x = squeeze(term.x, i);
        term.letters.erase(at, 1);
      }
    term = without_repeats(std::move(term));
  }
  Term y = terms[0];
  for (std::size_t k = 1; k <= terms.size(); ++k) {
    Letters needed = result;
    for (std::size_t later = k + 1; later < terms.size(); ++later) needed += terms[later].letters;
    if (k == terms.size()) {
      y = summed(std::move(y), needed);
      break;
    }
    // Two statements: which argument of a call is made first, and finds y still whole, is the compiler's
    // choice.
    const Term next = summed(terms[k], needed + y.letters);
    y = product(summed(std::move(y), needed + terms[k].letters), next, needed);
  }
  return in_order(y, result);
}

}  // namespace gradus
