// What a call, an operation and a trace cost.
#include "harness.hpp"
#include "inputs.hpp"

#include <algorithm>

namespace st = stithy;
using st::Array;

namespace bench {
namespace {

Prepared eager_add() {
    const Array one = st::ones({1}).wait();
    return {[=](std::int64_t n) {
                Array r = one;
                for (std::int64_t i = 0; i < n; ++i) r = one + one;
                r.wait();
            },
            [=] { return std::vector<Array>{one + one}; },
            {}};
}

Prepared jit_add() {
    const Array one = st::ones({1}).wait();
    auto add = st::jit([](Array x, Array y) { return x + y; });
    return {[=](std::int64_t n) {
                Array r = one;
                for (std::int64_t i = 0; i < n; ++i) r = add(one, one);
                r.wait();
            },
            [=] { return std::vector<Array>{add(one, one)}; },
            {}};
}

Prepared jit_fifty_arguments() {
    std::vector<Array> arguments;
    for (int i = 0; i < 50; ++i) arguments.push_back(st::full({8}, static_cast<double>(i)).wait());
    auto f = st::jit([](std::vector<Array> xs) {
        for (Array& x : xs) x = x + 1;
        return xs;
    });
    return {[=](std::int64_t n) {
                std::vector<Array> r;
                for (std::int64_t i = 0; i < n; ++i) r = f(arguments);
                r.back().wait();
            },
            [=] { return f(arguments); },
            {}};
}

/// What a length never seen before costs above one that is known: the first call less the better of two more of the same length.
template <class F, class Input>
double new_length_figure(const F& f, const Input& input, int& length) {
    std::vector<double> extra;
    for (int i = 0; i < 51; ++i) {
        const Array x = input(++length).wait();
        const auto call = [&] { return microseconds([&] { f(x).wait(); }); };
        const double first = call(), second = call(), third = call();
        extra.push_back(first - std::min(second, third));
    }
    std::nth_element(extra.begin(), extra.begin() + 25, extra.end());
    return extra[25];
}

Prepared new_length() {
    auto f = st::jit([](Array x) { return st::sum(st::exp(-x * x) * st::sin(x) + 0.5); });
    for (int n : {1, 9, 100, 1000, 2000, 3000}) f(span_of_three(n + 1, st::f64)).wait();
    auto length = std::make_shared<int>(3000);
    return {{}, {}, [=] { return new_length_figure(f, [](int n) { return span_of_three(n, st::f64); }, *length); }};
}

Prepared new_length_attention() {
    auto attention = [](Array q) {
        const Array scores = st::softmax(st::matmul(q, q.T()) / 8.0f, -1);
        return st::sum(st::square(st::matmul(scores, q)));
    };
    auto g = std::make_shared<decltype(st::jit(st::grad(attention)))>(st::jit(st::grad(attention)));
    auto input = [](int n) { return wave({n, 64}, st::f32, 1); };
    for (int n : {9, 40, 60, 100, 140, 300}) (*g)(input(n)).wait();
    auto length = std::make_shared<int>(40);
    return {{}, {}, [=] {
                if (*length > 140) { // lengths from 41 to 142; a new object has seen none
                    *g = st::jit(st::grad(attention));
                    *length = 40;
                }
                return new_length_figure(*g, input, *length);
            }};
}

/// A function of `count` operations in a row.
Array long_chain(Array x, const Array& y, int count) {
    for (int i = 0; i < count; i += 4) x = st::tanh(st::sin(x * 0.9) + y);
    return st::sum(x);
}

/// Trace, gradient and plan of 10,000 operations whose kernels are compiled already, by the operation.
Prepared trace_per_operation() {
    constexpr int count = 10'000;
    auto first_call = [] {
        const Array x = wave({16}, st::f64, 1), y = wave({16}, st::f64, 2);
        auto g = st::jit(st::grad([&](Array a) { return long_chain(a, y, count); }));
        return microseconds([&] { g(x).wait(); }) / count;
    };
    first_call();
    return {{}, {}, first_call};
}

/// The gradient of a chain without jit, by the operation.
Prepared eager_gradient_per_operation() {
    constexpr int count = 1000;
    const Array x = wave({16}, st::f64, 1), y = wave({16}, st::f64, 2);
    auto g = st::grad([=](Array a) { return long_chain(a, y, count); });
    return {{}, {}, [=] { return microseconds([&] { g(x).wait(); }) / count; }};
}

} // namespace

std::vector<Work> call_works() {
    return {{"eager_add_1", eager_add},
            {"jit_add_1", jit_add},
            {"jit_50_args", jit_fifty_arguments},
            {"new_length", new_length},
            {"new_length_attention", new_length_attention},
            {"trace_per_op", trace_per_operation},
            {"eager_grad_per_op", eager_gradient_per_operation}};
}

} // namespace bench
