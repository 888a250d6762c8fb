#include "ir/equal.hpp"
#include "ir/text/text.hpp"
#include "ir/verify.hpp"

#include <gtest/gtest.h>

namespace stithy::ir {
namespace {

const Type scalar(f64, {});

/// What `verify` says about a function of one operation, its parameters of the given types.
struct Broken {
    Builder builder{"f"};
    std::vector<ValueId> parameters;

    explicit Broken(std::initializer_list<Type> types) {
        for (const Type& t : types) parameters.push_back(builder.parameter(t));
    }
    ValueId add(OpCode code, std::vector<ValueId> operands, std::vector<Type> results, AttrPtr attr = nullptr,
                std::vector<FunctionPtr> regions = {}) {
        Op op;
        op.code = code;
        op.operands = std::move(operands);
        op.attr = std::move(attr);
        op.regions = std::move(regions);
        return builder.append(std::move(op), results);
    }
    std::string says(std::vector<ValueId> results = {}) {
        try {
            verify(*builder.finish(std::move(results)));
        } catch (const InternalError& e) {
            return e.what();
        }
        return "fine";
    }
};

FunctionPtr region(std::vector<Type> parameters, std::vector<ValueId> results) {
    Builder b("region");
    for (Type& t : parameters) b.parameter(std::move(t));
    return b.finish(std::move(results));
}

#define EXPECT_SAYS(broken, text) EXPECT_NE((broken).says().find(text), std::string::npos)

TEST(Verify, CountsOfOperands) {
    Broken b({scalar});
    b.add(OpCode::add, {0}, {scalar});
    EXPECT_SAYS(b, "wrong number of operands: op 0, add (f64[]) -> (f64[]), of @f");
}

TEST(Verify, CountsOfResults) {
    Broken b({scalar});
    b.add(OpCode::sine, {0}, {scalar, scalar});
    EXPECT_SAYS(b, "wrong number of results");
}

TEST(Verify, AttributesMustBeThere) {
    Broken missing({scalar, scalar});
    missing.add(OpCode::compare, {0, 1}, {Type(boolean, {})});
    EXPECT_SAYS(missing, "attribute is missing");
    Broken other({scalar, scalar});
    other.add(OpCode::compare, {0, 1}, {Type(boolean, {})}, make_attr(DimAttr{0}));
    EXPECT_SAYS(other, "of another kind");
}

TEST(Verify, RegionsMustBeThere) {
    Broken none({scalar});
    none.add(OpCode::call, {0}, {scalar}, make_attr(CallAttr{"g"}));
    EXPECT_SAYS(none, "wrong number of regions");
    Broken unwanted({scalar});
    unwanted.add(OpCode::sine, {0}, {scalar}, nullptr, {region({scalar}, {0})});
    EXPECT_SAYS(unwanted, "wrong number of regions");
    Broken null({scalar});
    null.add(OpCode::call, {0}, {scalar}, make_attr(CallAttr{"g"}), {nullptr});
    EXPECT_SAYS(null, "an empty region");
}

TEST(Verify, SignaturesOfCalls) {
    Broken operands({scalar});
    operands.add(OpCode::call, {0}, {scalar}, make_attr(CallAttr{"g"}), {region({Type(f32, {})}, {0})});
    EXPECT_SAYS(operands, "the callee's parameters");
    Broken results({scalar});
    results.add(OpCode::call, {0}, {Type(f32, {})}, make_attr(CallAttr{"g"}), {region({scalar}, {0})});
    EXPECT_SAYS(results, "the callee's results");
}

TEST(Verify, SignaturesOfWhile) {
    const Type flag(boolean, {});
    const FunctionPtr condition = region({flag, scalar}, {0}), body = region({flag, scalar}, {1});
    Broken good({flag, scalar});
    good.add(OpCode::while_, {0, 1}, {scalar}, make_attr(WhileAttr{1}), {condition, body});
    EXPECT_EQ(good.says(), "fine");
    Broken groups({flag, scalar});
    groups.add(OpCode::while_, {0, 1}, {scalar}, make_attr(WhileAttr{2}), {condition, body});
    EXPECT_SAYS(groups, "invariants and carries");
    Broken predicate({flag, scalar});
    predicate.add(OpCode::while_, {0, 1}, {scalar}, make_attr(WhileAttr{1}), {body, body});
    EXPECT_SAYS(predicate, "one bool of rank 0");
    Broken carries({flag, scalar});
    carries.add(OpCode::while_, {0, 1}, {scalar}, make_attr(WhileAttr{1}), {condition, condition});
    EXPECT_SAYS(carries, "the body's results");
}

TEST(Verify, SignaturesOfBranches) {
    const Type index(i32, {});
    Broken selector({scalar, scalar});
    selector.add(OpCode::case_, {0, 1}, {scalar}, nullptr, {region({scalar}, {0})});
    EXPECT_SAYS(selector, "the selector");
    Broken captures({index, scalar});
    captures.add(OpCode::case_, {0, 1}, {scalar}, nullptr, {region({scalar}, {0}), region({scalar, scalar}, {0})});
    EXPECT_SAYS(captures, "captured operands");
    Broken results({index, scalar});
    results.add(OpCode::case_, {0, 1}, {scalar}, nullptr, {region({scalar}, {0}), region({scalar}, {})});
    EXPECT_SAYS(results, "a region's results");
}

TEST(Verify, SignaturesOfReducers) {
    Broken two({Type(f64, {3}), scalar});
    two.add(OpCode::reduce, {0, 1}, {scalar}, make_attr(DimsAttr{Dims(1, 0)}), {region({scalar}, {0})});
    EXPECT_SAYS(two, "two values per input");
    Broken rank({Type(f64, {3}), scalar});
    rank.add(OpCode::reduce, {0, 1}, {scalar}, make_attr(DimsAttr{Dims(1, 0)}), {region({scalar, Type(f64, {3})}, {0})});
    EXPECT_SAYS(rank, "not of rank 0");
}

TEST(Verify, SignaturesOfLoops) {
    const Type index(i64, {}), xs(f64, {5});
    const LoopAttr attr{0, 1, 0, 1, 1, 5, false};
    const FunctionPtr body = region({index, scalar, scalar}, {1, 2});
    Broken good({scalar, xs});
    good.add(OpCode::loop, {0, 1}, {scalar, xs}, make_attr(attr), {body});
    EXPECT_EQ(good.says(), "fine");
    Broken length({scalar, Type(f64, {4})});
    length.add(OpCode::loop, {0, 1}, {scalar, xs}, make_attr(attr), {body});
    EXPECT_SAYS(length, "does not fit its operand");
    Broken counter({scalar, xs});
    counter.add(OpCode::loop, {0, 1}, {scalar, xs}, make_attr(attr), {region({scalar, scalar, scalar}, {1, 2})});
    EXPECT_SAYS(counter, "the counter");
    Broken groups({scalar, xs});
    groups.add(OpCode::loop, {0, 1}, {scalar}, make_attr(attr), {body});
    EXPECT_SAYS(groups, "the groups");
    Broken carry({scalar, xs});
    carry.add(OpCode::loop, {0, 1}, {index, xs}, make_attr(attr), {region({index, scalar, scalar}, {0, 2})});
    EXPECT_SAYS(carry, "a carry changes its type");
    Broken unknown({index, scalar, xs});
    unknown.add(OpCode::loop, {0, 1, 2}, {scalar, xs}, make_attr(LoopAttr{0, 1, 0, 1, 1, -1, false}), {body});
    EXPECT_SAYS(unknown, "slices of an unknown length");
}

TEST(Verify, AccumulatorsAreUsedOnce) {
    const Type acc = Type::accumulator(f64, {});
    Broken twice({scalar});
    const ValueId zeros = twice.add(OpCode::accumulator_zeros, {}, {acc});
    twice.add(OpCode::accumulator_add, {zeros, 0}, {acc});
    twice.add(OpCode::freeze, {zeros}, {scalar});
    EXPECT_SAYS(twice, "used twice");
    Broken returned({acc});
    EXPECT_NE(returned.says({0, 0}).find("used twice"), std::string::npos);
    Broken kind({scalar});
    kind.add(OpCode::freeze, {0}, {scalar});
    EXPECT_SAYS(kind, "not an accumulator");
    Broken outside({acc});
    outside.add(OpCode::loop, {0}, {acc}, make_attr(LoopAttr{0, 1, 0, 0, 0, 5, false}), {region({Type(i64, {}), acc}, {1})});
    EXPECT_SAYS(outside, "outside of their group");
}

TEST(Verify, StacksFitTheirValues) {
    const Type stack = Type::stack({scalar});
    Broken push({stack, Type(f32, {})});
    push.add(OpCode::stack_push, {0, 1}, {stack});
    EXPECT_SAYS(push, "stack and values do not fit");
    Broken pop({stack});
    pop.add(OpCode::stack_pop, {0}, {stack});
    EXPECT_SAYS(pop, "stack and results do not fit");
    Broken twice({stack, scalar});
    twice.add(OpCode::stack_push, {0, 1}, {stack});
    twice.add(OpCode::stack_push, {0, 1}, {stack});
    EXPECT_SAYS(twice, "used twice");
}

std::string says_of(const std::string& text) {
    try {
        verify(*parse(text, "t").main());
    } catch (const InternalError& e) {
        return e.what();
    }
    return "fine";
}

std::string linear(const std::string& body) {
    return says_of("func.func @main(%x: tensor<f64>, %t: tensor<f64> {stithy.linear}, %n: tensor<i64>) -> tensor<f64> {\n" + body +
                   "\n return %0 : tensor<f64>\n}");
}

TEST(VerifyLinear, LinearUses) {
    EXPECT_EQ(linear("%0 = stablehlo.multiply %x, %t : tensor<f64>"), "fine");
    EXPECT_EQ(linear("%1 = stablehlo.negate %t : tensor<f64>\n%0 = stablehlo.add %1, %t : tensor<f64>"), "fine");
    EXPECT_EQ(linear("%0 = stablehlo.divide %t, %x : tensor<f64>"), "fine");
    EXPECT_NE(linear("%0 = stablehlo.sine %t : tensor<f64>").find("not linear"), std::string::npos);
    EXPECT_NE(linear("%0 = stablehlo.divide %x, %t : tensor<f64>").find("where the operation is not linear"), std::string::npos);
    EXPECT_NE(linear("%0 = stablehlo.multiply %t, %t : tensor<f64>").find("a product of two linear values"), std::string::npos);
    EXPECT_NE(linear("%c = stablehlo.constant dense<1.0> : tensor<f64>\n%0 = stablehlo.add %t, %c : tensor<f64>").find("plus a constant"),
              std::string::npos);
}

TEST(VerifyLinear, FollowsRegions) {
    const auto loop = [](const std::string& body) {
        return "%0 = stithy.loop length = 3 counter(%i) invariants(%k = %t : tensor<f64>) carries(%c = %x : tensor<f64>) -> (tensor<f64>) "
               "{\n" +
               body + "\nstithy.yield %r : tensor<f64>\n}";
    };
    EXPECT_EQ(linear(loop("%r = stablehlo.add %c, %k : tensor<f64>")), "fine");
    EXPECT_NE(linear(loop("%s = stablehlo.add %c, %k : tensor<f64>\n%r = stablehlo.multiply %s, %c : tensor<f64>"))
                  .find("a product of two linear values"),
              std::string::npos);
    EXPECT_NE(linear("%p = stablehlo.compare LT, %n, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>\n%0 = \"stablehlo.if\"(%p) "
                     "({\nstablehlo.return %t : tensor<f64>\n}, {\n"
                     "%1 = stablehlo.tanh %t : tensor<f64>\nstablehlo.return %1 : tensor<f64>\n}) : (tensor<i1>) -> tensor<f64>")
                  .find("not linear"),
              std::string::npos);
    EXPECT_NE(linear("%0 = stablehlo.while(%c = %t) : tensor<f64> cond {\n%p = stablehlo.compare LT, %c, %x : (tensor<f64>, tensor<f64>) "
                     "-> tensor<i1>\n"
                     "stablehlo.return %p : tensor<i1>\n} do {\nstablehlo.return %c : tensor<f64>\n}")
                  .find("not linear"),
              std::string::npos);
}

TEST(Equal, SeesEveryDifference) {
    const auto read = [](const std::string& op, const std::string& type = "tensor<2xf64>") {
        return parse("func.func @main(%x: " + type + ", %y: " + type + ") -> " + type + " {\n%0 = " + op + " : " + type +
                         "\nreturn %0 : " + type + "\n}",
                     "t")
            .main();
    };
    const FunctionPtr one = read("stablehlo.add %x, %y");
    EXPECT_TRUE(equal(*one, *read("stablehlo.add %x, %y")));
    EXPECT_FALSE(equal(*one, *read("stablehlo.add %y, %x")));
    EXPECT_FALSE(equal(*one, *read("stablehlo.multiply %x, %y")));
    EXPECT_FALSE(equal(*one, *read("stablehlo.add %x, %y", "tensor<3xf64>")));
    EXPECT_FALSE(equal(*read("stablehlo.reverse %x, dims = [0]"), *read("stablehlo.reverse %x, dims = []")));
}

} // namespace
} // namespace stithy::ir
