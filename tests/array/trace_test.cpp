// The door of operations with small traces of the test's own.
#include "array/bind.hpp"
#include "array/check.hpp"
#include "array/trace.hpp"
#include "ops/value.hpp"

#include <sstream>
#include <thread>

namespace st = stithy;
using st::Array;
using st::Arrays;
using st::detail::Operation;
using st::detail::Trace;
using st::detail::TraceScope;
using st::test::expect_array;
using st::test::expect_parts;
using st::test::message;

namespace {
/// Notes the names of operations; staging: gives symbols; recording: performs them one level below.
class Notebook final : public Trace {
public:
    Notebook(Kind kind, std::string name) : Trace(kind, std::move(name)) {}

    Arrays bind(const Operation& operation) override {
        notes.push_back(std::string(st::ir::name(operation.code)));
        if (!is_staging()) {
            Arrays below;
            for (const Array& x : operation.operands) below.push_back(lowered(x));
            Operation under = operation;
            under.operands = below;
            Arrays results = st::detail::bind(under);
            for (Array& r : results) r = wrap(r);
            return results;
        }
        st::ops::LocationScope location(operation.location);
        st::ir::Builder builder;
        std::vector<st::ops::Value> operands;
        for (const Array& x : operation.operands) operands.emplace_back(builder, builder.parameter(st::detail::node(x).type()));
        Arrays results;
        for (const auto& v : st::ops::emit(builder, operation.code, operands, operation.attr,
                                           {operation.regions.begin(), operation.regions.end()}, operation.declared))
            results.push_back(
                st::detail::make_traced(st::Ref<Trace>(this), v.dtype(), v.shape(), st::Device(), next++, {}, operation.location));
        return results;
    }

    Array wrap(const Array& below) {
        return st::detail::make_traced(st::Ref<Trace>(this), below.dtype(), below.shape(), st::Device(), next++,
                                       is_staging() ? Array() : below, stithy::Location());
    }

    std::vector<std::string> notes;

private:
    Array lowered(const Array& x) const { return st::detail::node(x).trace() == this ? st::detail::node(x).below() : x; }
    std::uint32_t next = 0;
};

using Kind = Trace::Kind;
st::Ref<Notebook> notebook(Kind kind, std::string name) { return st::make_ref<Notebook>(kind, std::move(name)); }
} // namespace

TEST(Traces, StagingTakesEverything) {
    const Array plain = st::ones({2, 3});
    auto jit = notebook(Kind::staging, "jit");
    TraceScope scope(*jit);
    const Array x = jit->wrap(plain);
    const Array twice = x * 2, y = twice + st::zeros({3});
    EXPECT_EQ(y.shape().str(), "[2,3]");
    EXPECT_FALSE(y.ready());
    EXPECT_EQ(jit->notes, (std::vector<std::string>{"multiply", "constant", "broadcast_in_dim", "add"}));
    jit->notes.clear();
    const Array n = st::arange(3);
    EXPECT_TRUE(st::detail::node(n).traced());
    expect_parts(message([&] { return y.item<double>(); }), {"item", "traced", "where", "cond", "trace_test.cpp:"});
    expect_parts(message([&] { return static_cast<bool>(st::sum(x) > 0); }), {"bool", "traced", "where", "cond", "trace_test.cpp:"});
    std::ostringstream out;
    out << y;
    EXPECT_EQ(out.str(), "f64[2,3] traced (jit)\n");
    expect_parts(message([&] { return st::matmul(x, st::ones({5, 5})); }), {"matmul", "2,3", "5,5", "trace_test.cpp:"});
}

TEST(Traces, RecordingTakesItsOwnAndUnwraps) {
    auto grad = notebook(Kind::recording, "grad");
    TraceScope scope(*grad);
    const Array x = grad->wrap(st::array({1.0, 2.0}));
    const Array plain = st::array({3.0, 4.0}) * 2;
    EXPECT_FALSE(st::detail::node(plain).traced());
    EXPECT_TRUE(grad->notes.empty());
    const Array y = st::sum(x * plain);
    EXPECT_EQ(grad->notes, (std::vector<std::string>{"multiply", "reduce"}));
    EXPECT_EQ(y.item<double>(), 22.0);
    EXPECT_TRUE(y > 10);
    EXPECT_EQ(st::repr(x), "f64[2] cpu\n[1. 2.]");
    expect_array<double>(x(st::range(1, st::end)), {1}, {2});
}

TEST(Traces, TheInnermostThatIsConcerned) {
    auto outer = notebook(Kind::recording, "grad");
    TraceScope outer_scope(*outer);
    const Array x = outer->wrap(st::array({1.0, 2.0}));
    {
        auto inner = notebook(Kind::recording, "jvp");
        TraceScope inner_scope(*inner);
        const Array z = inner->wrap(x) + x;
        EXPECT_EQ(z(0).item<double>(), 2.0);
        EXPECT_EQ(inner->notes.front(), "add");
        EXPECT_EQ(outer->notes.front(), "add");
        outer->notes.clear();
        const Array w = x + x; // not the inner one's
        EXPECT_EQ(outer->notes.size(), 1u);
        EXPECT_EQ(st::detail::node(w).trace(), outer.get());
    }
    auto jit = notebook(Kind::staging, "jit");
    TraceScope jit_scope(*jit);
    const Array v = x + x;
    EXPECT_EQ(st::detail::node(v).trace(), jit.get());
    auto above = notebook(Kind::recording, "grad");
    TraceScope above_scope(*above);
    EXPECT_EQ(st::detail::node(above->wrap(v) * v).trace(), above.get());
    EXPECT_EQ(st::detail::node(x * x).trace(), jit.get());
    {
        st::detail::TraceStackLimit none(0);
        EXPECT_FALSE(st::detail::node(st::ones({2}) + 1).traced());
    }
    EXPECT_EQ(st::detail::node(x * x).trace(), jit.get());
}

TEST(Traces, EscapedValuesSaySo) {
    Array escaped;
    {
        auto jit = notebook(Kind::staging, "jit");
        TraceScope scope(*jit);
        escaped = jit->wrap(st::ones({2})) * 2;
    }
    expect_parts(message([&] { return escaped + 1; }), {"add", "trace that has ended", "jit", "trace_test.cpp:"});
    expect_parts(message([&] { return escaped.item<double>(); }), {"trace that has ended"});
    EXPECT_NE(st::repr(escaped).find("ended"), std::string::npos);
    expect_array<double>(st::ones({2}) + 1, {2}, {2, 2});
}

TEST(Traces, ValuesStayInTheirThread) {
    auto jit = notebook(Kind::staging, "jit");
    TraceScope scope(*jit);
    const Array x = jit->wrap(st::ones({2}));
    std::string text;
    std::thread([&] { text = message([&] { return x + 1; }); }).join();
    expect_parts(text, {"add", "another thread", "jit"});
}

TEST(Traces, IndicesBecomeDynamicSlices) {
    auto jit = notebook(Kind::staging, "jit");
    TraceScope scope(*jit);
    const Array x = jit->wrap(st::ones({4, 3})), i = jit->wrap(Array(1));
    jit->notes.clear();
    EXPECT_EQ(x(i).shape().str(), "[3]");
    EXPECT_EQ(jit->notes.back(), "reshape");
    EXPECT_NE(std::find(jit->notes.begin(), jit->notes.end(), "dynamic_slice"), jit->notes.end());
    EXPECT_EQ(x.at(i, 2).add(1).shape().str(), "[4,3]");
    EXPECT_EQ(jit->notes.back(), "dynamic_update_slice");
    EXPECT_EQ(x(1).shape().str(), "[3]");
}
