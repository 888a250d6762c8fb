// What is too large, out of memory, or empty: refused with the operation and the user's line, and the library goes on working.
#include "array/check.hpp"

#include <stithy/stithy.hpp>

#include <cstdint>

namespace st = stithy;
using st::Array;
using st::Shape;
using st::test::expect_array;
using st::test::expect_error_here;

namespace {

constexpr std::int64_t large = std::int64_t{1} << 40; // elements: more bytes than a machine has
constexpr std::int64_t wide = std::int64_t{1} << 32, most = std::int64_t{1} << 62;

// clang-format off: a call stands on one line, which its message names

TEST(Errors, ArraysThatDoNotFitInMemory) {
    const char* const memory = "out of memory";
    expect_error_here([&] { return st::zeros({large}).to_vector<double>(); }, {memory, "8796093022208 bytes"});
    expect_error_here([&] { return st::full({large}, 2.5).wait() + st::arange(large).wait(); }, {memory, "arange"});
    expect_error_here([&] { return st::linspace(0, 1, large).wait(); }, {memory, "linspace"});
    expect_error_here([&] { return st::eye(std::int64_t{1} << 24).wait(); }, {memory, "eye"});
    const Array column = st::arange(std::int64_t{1} << 20).astype(st::f64), row = st::reshape(column, {1, -1});
    const Array upright = st::reshape(column, {-1, 1});
    expect_error_here([&] { return (upright + row).wait(); }, {memory, "add", "bytes"});
    expect_error_here([&] { return st::matmul(upright, row).wait(); }, {memory, "dot_general", "bytes"});
    expect_error_here([&] { return st::broadcast_to(row, {1 << 20, 1 << 20}).wait(); }, {memory, "bytes"});
    expect_error_here([&] { return st::tile(column, {1 << 20, 1}).wait(); }, {memory});
    auto f = st::jit([](Array a, Array b) { return st::sin(a + b) * 2.0; });
    expect_error_here([&] { return f(upright, row).wait(); }, {memory, "jit", "bytes"});
    expect_array<double>(st::sum(st::ones({3})), Shape(), {3.0});
}

TEST(Errors, ShapesBeyondAllAddresses) {
    const Array one(1.0), row = st::arange(2), none = st::zeros({0});
    const Array up = st::zeros({wide, 1}), flat = st::zeros({1, wide});
    const auto all = [&] {
        expect_error_here([&] { return st::zeros({wide, wide}); }, {"zeros", "too large"});
        expect_error_here([&] { return st::zeros({most}, st::i8); }, {"zeros", "too large"});
        expect_error_here([&] { return st::zeros({most, most, 0}); }, {"zeros", "too large"});
        expect_error_here([&] { return st::zeros({2, -1}); }, {"zeros", "negative"});
        expect_error_here([&] { return st::ones({wide, wide}); }, {"ones", "too large"});
        expect_error_here([&] { return st::empty({wide, wide}); }, {"empty", "too large"});
        expect_error_here([&] { return st::full({wide, wide}, 1.5); }, {"full", "too large"});
        expect_error_here([&] { return st::full({wide, wide}, one); }, {"full", "too large"});
        expect_error_here([&] { return st::eye(wide); }, {"eye", "too large"});
        expect_error_here([&] { return st::arange(1e30); }, {"arange", "too large"});
        expect_error_here([&] { return st::linspace(0, 1, most); }, {"linspace", "too large"});
        expect_error_here([&] { return st::broadcast_to(1.0, {wide, wide}); }, {"broadcast_to", "too large"});
        expect_error_here([&] { return st::broadcast_to(row, {most, 2}); }, {"broadcast_to", "too large"});
        expect_error_here([&] { return st::sum(st::broadcast_to(row, {most, 2})); }, {"broadcast_to", "too large"});
        expect_error_here([&] { return st::tile(row, {most, 4}); }, {"tile", "too large"});
        expect_error_here([&] { return st::repeat(row, most); }, {"repeat", "too large"});
        expect_error_here([&] { return st::reshape(none, {wide, wide}); }, {"reshape", "too large"});
        expect_error_here([&] { return st::reshape(none, {-1, wide, wide}); }, {"reshape", "too large"});
        expect_error_here([&] { return st::outer(up, flat); }, {"too large"});
        expect_error_here([&] { return up * flat; }, {"multiply", "too large"});
        expect_error_here([&] { return st::matmul(up, flat); }, {"dot_general", "too large"});
        expect_error_here([&] { return st::pad(row, {{most, most}}); }, {"pad", "large"});
        expect_error_here([&] { return st::array(std::vector<double>{}, {wide, wide}); }, {"array", "too large"});
    };
    all();
    st::jit([&](Array x) { // staged, all the same
        all();
        return x;
    })(one);
}

TEST(Errors, DefaultMadeArrays) {
    const Array none, x = st::ones({2});
    expect_error_here([&] { return none.dtype(); }, {"dtype", "empty"});
    expect_error_here([&] { return none.shape(); }, {"shape", "empty"});
    expect_error_here([&] { return none.size(); }, {"empty"});
    expect_error_here([&] { return none.rank(); }, {"empty"});
    expect_error_here([&] { return none.device(); }, {"device", "empty"});
    expect_error_here([&] { return none.ready(); }, {"ready", "empty"});
    expect_error_here([&] { return none.wait(); }, {"wait", "empty"});
    expect_error_here([&] { return none.item<double>(); }, {"item", "empty"});
    expect_error_here([&] { return none.to_vector<double>(); }, {"to_vector", "empty"});
    expect_error_here([&] { return none + x; }, {"add", "empty"});
    expect_error_here([&] { return x * none; }, {"multiply", "empty"});
    expect_error_here([&] { return st::sum(none); }, {"empty"});
    expect_error_here([&] { return none(0); }, {"indexing", "empty"});
    expect_error_here([&] { return st::concatenate({x, none}); }, {"concatenate", "empty"});
    expect_error_here([&] { return st::where(none, x, x); }, {"empty"});
}

TEST(Errors, ConversionsNameWhereTheValueWasMade) {
    const Array x = st::ones({2, 3});
    expect_error_here([&] { return static_cast<bool>(Array(st::ones({2, 3}))); }, {"bool", "f64[2,3]"});
    expect_error_here([&] { return static_cast<double>(Array(st::ones({2, 3}))); }, {"conversion", "f64[2,3]"});
}

// clang-format on

TEST(EmptyIndexing, NothingFromNothing) {
    const Array none = st::zeros({0}, st::i32);
    const auto all = [&](const Array& indices) {
        EXPECT_EQ(st::zeros({0})(indices).shape().str(), "[0]");
        EXPECT_EQ(st::zeros({0, 3})(indices).shape().str(), "[0,3]");
        EXPECT_EQ(st::zeros({3, 0})(st::all, indices).shape().str(), "[3,0]");
        EXPECT_EQ(st::ones({4})(indices).shape().str(), "[0]");
        EXPECT_EQ(st::ones({4, 2})(indices, 1).shape().str(), "[0]");
        EXPECT_EQ(st::zeros({0, 0})(indices, indices).shape().str(), "[0]");
        EXPECT_EQ(st::take(st::zeros({0}), indices).shape().str(), "[0]");
        EXPECT_EQ(st::zeros({0}).at(indices).set(1.0).shape().str(), "[0]");
        EXPECT_EQ(st::zeros({0, 3}).at(indices).add(1.0).shape().str(), "[0,3]");
        EXPECT_EQ(st::sum(st::ones({4}).at(indices).add(1.0)).shape().str(), "[]");
        EXPECT_EQ(st::zeros({0}, st::i8)(indices).dtype(), st::i8);
    };
    all(none);
    all(st::zeros({0}, st::i64));
    st::jit([&](Array indices) {
        all(indices);
        return indices;
    })(none);
    const Array g = st::grad([&](Array x) { return st::sum(x(none)) + st::sum(x); })(st::ones({3}));
    expect_array<double>(g, {3}, {1, 1, 1});
}

} // namespace
