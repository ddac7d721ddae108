// Matrix products.

#include "gradus/ops/ops.h"
#include "reliability/graphs/cases.h"

namespace gradus::test::graphs {

namespace {

Scalar dot(const Line& a, const Line& b) {
  Line products;
  for (std::size_t i = 0; i < a.size(); ++i) products.push_back(a[i] * b[i]);
  return sum(products);
}

/// As in NumPy: vectors become matrices of one row or column, which is dropped again.
Block product(const Step& p, const Block& x, const Block& z) {
  const bool in_bf16 = p.autocast && x.dtype == f32;
  Block a = in_bf16 ? each(x, to_bf16) : x, b = in_bf16 ? each(z, to_bf16) : z;
  if (x.dim() == 1) a.shape.insert(0, 1);
  if (z.dim() == 1) b.shape.push_back(1);
  const std::int64_t rows = a.shape[a.dim() - 2], inner = a.shape[a.dim() - 1],
                     columns = b.shape[b.dim() - 1];
  Shape left = a.shape, right = b.shape;
  for (Shape* s : {&left, &right}) {
    s->erase(s->size() - 1);
    s->erase(s->size() - 1);
  }
  Shape shape = broadcast(left, right);
  shape.push_back(rows);
  shape.push_back(columns);
  Block y = made(shape, a.dtype, [&](const Index& i) {
    Line row, column;
    for (std::int64_t k = 0; k < inner; ++k) {
      Index at = i;
      at.back() = k;
      row.push_back(number_at(a, at));
      at.back() = i.back();
      at[at.size() - 2] = k;
      column.push_back(number_at(b, at));
    }
    return in_bf16 ? apply(Formula::from_product, dot(row, column)) : dot(row, column);
  });
  if (x.dim() == 1) y.shape.erase(y.dim() - 2);
  if (z.dim() == 1) y.shape.erase(y.dim() - 1);
  return y;
}

Block swapped(const Block& x) {
  Block y{{x.shape[1], x.shape[0]}, x.dtype};
  for (const Index& i : indices_of(y.shape)) y.numbers.push_back(x[place_of(x.shape, {i[1], i[0]})]);
  return y;
}

Block affine(const Step& p, const Blocks& x) {
  Block y = product(p, x[0], swapped(x[1]));
  if (x.size() > 2) y = broadcasted(y, x[2], y.dtype, [](Scalar a, Scalar b) { return a + b; });
  return y;
}

Drawing factors(bool with_bias) {
  return [with_bias](Draw& draw, Step& p) {
    draw.add(p, {.low = -10, .high = 10, .rank = 1, .most_rank = 3, .most = 18});
    const Shape shape = draw.shape(p, 0);
    const DType dtype = draw.value(p.inputs[0]).dtype;
    const std::int64_t out = draw.between(draw.chance(0.1) ? 0 : 1, 3);
    draw.add_like(p, {out, shape.back()}, dtype, {.low = -10, .high = 10});
    if (with_bias) draw.add_like(p, {out}, dtype);
    return true;
  };
}

/// An equation and its operands, with the sizes of its letters.
Drawing summed(const std::string& equation) {
  return [equation](Draw& draw, Step& p) {
    std::int64_t sizes[26];
    for (std::int64_t& size : sizes) size = draw.between(draw.chance(0.03) ? 0 : 1, 3);
    p.equation = equation;
    const DType dtype = draw.floating();
    std::string letters;
    for (const char c : equation) {
      if (c >= 'a' && c <= 'z') letters += c;
      if (c != ',' && c != '-') continue;
      Shape shape;
      for (const char letter : letters) shape.push_back(sizes[letter - 'a']);
      draw.add_like(p, shape, dtype, {.low = -10, .high = 10});
      letters.clear();
      if (c == '-') break;
    }
    return true;
  };
}

/// All products of numbers whose letters agree, added up by the letters of the result.
Blocks einsum_of(const Step& p, const Blocks& x) {
  std::vector<std::string> of(1);
  std::string result;
  bool right = false;
  for (const char c : p.equation) {
    if (c == '-') right = true;
    if (c == ',') of.emplace_back();
    if (c >= 'a' && c <= 'z') (right ? result : of.back()) += c;
  }
  std::string letters = result;
  Shape all;
  std::int64_t sizes[26] = {};
  for (std::size_t k = 0; k < of.size(); ++k)
    for (std::size_t i = 0; i < of[k].size(); ++i) {
      sizes[of[k][i] - 'a'] = x[k].shape[static_cast<int>(i)];
      if (letters.find(of[k][i]) == std::string::npos) letters += of[k][i];
    }
  for (const char c : letters) all.push_back(sizes[c - 'a']);
  Shape shape;
  for (const char c : result) shape.push_back(sizes[c - 'a']);
  std::vector<Line> terms(indices_of(shape).size());
  for (const Index& i : indices_of(all)) {
    Scalar term = constant(1);
    for (std::size_t k = 0; k < of.size(); ++k) {
      Index at;
      for (const char c : of[k]) at.push_back(i[letters.find(c)]);
      term = term * x[k][place_of(x[k].shape, at)];
    }
    terms[place_of(shape, Index(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(result.size())))]
        .push_back(term);
  }
  Block y{shape, x[0].dtype};
  for (const Line& line : terms) y.numbers.push_back(sum(line));
  return {y};
}

}  // namespace

std::vector<OpCase> product_cases() {
  std::vector<OpCase> cases = {
      {"matmul",
       [](Draw& draw, Step& p) {
         draw.add(p, {.low = -10, .high = 10, .rank = 1, .most_rank = 4, .most = 18});
         const Shape shape = draw.shape(p, 0);
         Shape other{shape.back()};
         if (draw.chance(0.8)) other.push_back(draw.between(1, 3));
         if (other.size() == 2 && draw.chance(0.4)) {
           for (int axis = shape.size() - 3; axis >= 0; --axis)
             other.insert(0, draw.chance(0.3) ? 1 : shape[axis]);
           if (shape.size() < 3 && draw.chance(0.5)) other.insert(0, 2);
         }
         draw.add_like(p, other, draw.value(p.inputs[0]).dtype, {.low = -10, .high = 10});
         return true;
       },
       GRADUS_CALL(matmul(x[0], x[1])),
       [](const Step& p, const Blocks& x) -> Blocks { return {product(p, x[0], x[1])}; }, "x0 x1"},
      {"linear", factors(false), GRADUS_CALL(linear(x[0], x[1])),
       [](const Step& p, const Blocks& x) -> Blocks { return {affine(p, x)}; }, "x0~/1 x1/0"},
      {"linear", factors(true), GRADUS_CALL(linear(x[0], x[1], x[2])),
       [](const Step& p, const Blocks& x) -> Blocks { return {affine(p, x)}; }, "x0~/1 x1/0"},
      {"linear", factors(true), GRADUS_CALL(linear(x[0], x[1], x[2], Activation::relu)),
       [](const Step& p, const Blocks& x) -> Blocks { return {each(affine(p, x), relu)}; }, "x0? x1? y?"},
      {"linear", factors(true), GRADUS_CALL(linear(x[0], x[1], x[2], Activation::gelu)),
       [](const Step& p, const Blocks& x) -> Blocks { return {each(affine(p, x), gelu)}; }, "x0? x1?"},
      {"outer",
       [](Draw& draw, Step& p) {
         draw.add(p, {.rank = 1, .most_rank = 1, .most = 6});
         draw.add_like(p, {draw.between(0, 4)}, draw.value(p.inputs[0]).dtype);
         return true;
       },
       GRADUS_CALL(outer(x[0], x[1])),
       [](const Step&, const Blocks& x) -> Blocks {
         Block y{{x[0].shape[0], x[1].shape[0]}, x[0].dtype};
         for (const Scalar a : x[0].numbers)
           for (const Scalar b : x[1].numbers) y.numbers.push_back(a * b);
         return {y};
       },
       "x0 x1"},
  };
  for (const char* const equation : {"ab,bc->ac", "bij,bjk->bik", "bqd,bkd->bqk", "aab->ab", "ab->",
                                     "i,j->ji", "abc,c->ba", "ab,bc,cd->ad"})
    cases.push_back({"einsum", summed(equation), GRADUS_CALL(einsum(p.equation, x)), einsum_of, "x0? x1? x2?",
                     OpCase::Memory::either});
  return cases;
}

}  // namespace gradus::test::graphs
