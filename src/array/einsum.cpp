// Einstein's summation convention for one or two arrays.
#include "array/axes.hpp"
#include "array/elementwise.hpp"
#include "array/numbers.hpp"
#include "array/shapes.hpp"
#include "stithy/elementwise.hpp"
#include "stithy/products.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace stithy {

using detail::node;
using detail::to_array;

namespace {
/// An array whose axes have letters, each once.
struct Lettered {
    Array x;
    std::string letters;
};

struct Formula {
    std::vector<std::string> inputs;
    std::string output;
};

Formula parse(std::string_view text, std::size_t inputs, const Location& at) {
    Formula f;
    f.inputs.emplace_back();
    bool after_arrow = false, arrow_seen = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ' ') continue;
        if (c == '-' && i + 1 < text.size() && text[i + 1] == '>' && !arrow_seen) {
            after_arrow = arrow_seen = true;
            ++i;
        } else if (c == ',' && !after_arrow)
            f.inputs.emplace_back();
        else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
            (after_arrow ? f.output : f.inputs.back()) += c;
        else
            fail("einsum", "the formula \"" + std::string(text) + "\" is not of the form \"ij,jk->ik\"", at);
    }
    if (f.inputs.size() != inputs)
        fail("einsum",
             "the formula \"" + std::string(text) + "\" has " + std::to_string(f.inputs.size()) + " inputs, given " +
                 std::to_string(inputs),
             at);
    if (!arrow_seen) { // letters that occur once, in alphabetical order
        std::string every;
        for (const std::string& s : f.inputs) every += s;
        for (char c : every)
            if (std::count(every.begin(), every.end(), c) == 1) f.output += c;
        std::sort(f.output.begin(), f.output.end());
    }
    for (char c : f.output) {
        const bool known =
            std::any_of(f.inputs.begin(), f.inputs.end(), [&](const std::string& s) { return s.find(c) != std::string::npos; });
        if (!known || std::count(f.output.begin(), f.output.end(), c) != 1)
            fail("einsum",
                 "the letter '" + std::string(1, c) + "' of the result in \"" + std::string(text) +
                     "\" must occur once there and in an input",
                 at);
    }
    return f;
}

/// Letters that occur twice become one axis: the diagonal.
Lettered with_single_letters(Array x, std::string letters, const Location& at) {
    if (letters.size() != x.shape().rank())
        fail("einsum", node(x).type().str() + " has another rank than its letters \"" + letters + "\"", at);
    for (std::size_t i = 0; i < letters.size(); ++i)
        for (std::size_t j = letters.size() - 1; j > i; --j) {
            if (letters[i] != letters[j]) continue;
            const Shape shape = x.shape();
            if (shape[i] != shape[j])
                fail("einsum", "the letter '" + std::string(1, letters[i]) + "' stands for different extents of " + node(x).type().str(),
                     at);
            const Array on = Operand(detail::counter(i64, shape, static_cast<std::int64_t>(i), at), at) ==
                             Operand(detail::counter(i64, shape, static_cast<std::int64_t>(j), at), at);
            x = where({on, at}, {x, at}, {0, at});
            x = detail::reduced(ir::OpCode::add, x, Dims(1, static_cast<std::int64_t>(j)), false, at);
            letters.erase(j, 1);
        }
    return {x, letters};
}

/// Letters that are in no other place are summed away.
Lettered without_lonely(Lettered v, const std::string& needed, const Location& at) {
    Dims gone;
    std::string left;
    for (std::size_t i = 0; i < v.letters.size(); ++i) {
        if (needed.find(v.letters[i]) == std::string::npos)
            gone.push_back(static_cast<std::int64_t>(i));
        else
            left += v.letters[i];
    }
    if (gone.empty()) return v;
    return {detail::reduced(ir::OpCode::add, v.x, gone, false, at), left};
}

Array in_order(const Lettered& v, const std::string& output, const Location& at) {
    Dims order;
    for (char c : output) order.push_back(static_cast<std::int64_t>(v.letters.find(c)));
    return detail::permuted(v.x, order, at);
}

Lettered product(const Lettered& a, const Lettered& b, const std::string& output, const Location& at) {
    ir::DotAttr dims;
    std::string batch, free_a, free_b;
    for (std::size_t i = 0; i < a.letters.size(); ++i) {
        const char c = a.letters[i];
        const std::size_t j = b.letters.find(c);
        if (j == std::string::npos) {
            free_a += c;
            continue;
        }
        if (a.x.shape()[i] != b.x.shape()[j])
            fail("einsum",
                 "the letter '" + std::string(1, c) + "' stands for different extents of " + node(a.x).type().str() + " and " +
                     node(b.x).type().str(),
                 at);
        const bool kept = output.find(c) != std::string::npos;
        (kept ? dims.lhs_batch : dims.lhs_contract).push_back(static_cast<std::int64_t>(i));
        (kept ? dims.rhs_batch : dims.rhs_contract).push_back(static_cast<std::int64_t>(j));
        if (kept) batch += c;
    }
    for (char c : b.letters)
        if (a.letters.find(c) == std::string::npos) free_b += c;
    return {detail::bind1(ir::OpCode::dot_general, {a.x, b.x}, ir::make_attr(dims), at), batch + free_a + free_b};
}
} // namespace

Array einsum(std::string_view formula, const Operand& a) {
    const Location& at = a.location();
    const Formula f = parse(formula, 1, at);
    const Lettered v = without_lonely(with_single_letters(to_array(a), f.inputs[0], at), f.output, at);
    return in_order(v, f.output, at);
}

Array einsum(std::string_view formula, const Operand& a, const Operand& b) {
    const Location& at = a.location();
    const Formula f = parse(formula, 2, at);
    const Operand* operands[] = {&a, &b};
    const DType d = detail::common_dtype(operands);
    const Lettered left = with_single_letters(to_array(a, d, "einsum"), f.inputs[0], at);
    const Lettered right = with_single_letters(to_array(b, d, "einsum"), f.inputs[1], at);
    const Lettered va = without_lonely(left, f.output + right.letters, at), vb = without_lonely(right, f.output + left.letters, at);
    return in_order(product(va, vb, f.output, at), f.output, at);
}

} // namespace stithy
