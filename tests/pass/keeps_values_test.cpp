// Each pass alone, and all of them, keep the values of every sample program, of its derivatives, and of its batched form.
#include "pass/check.hpp"
#include "transform/check.hpp"

namespace stithy::test {
namespace {

Arguments more_arguments(const ir::Function& f, Arguments x) {
    for (std::size_t p = x.size(); p < f.parameter_count(); ++p)
        x.push_back(random_literal(f.type(static_cast<ir::ValueId>(p)), 3 + static_cast<unsigned>(p), -1, 1));
    return x;
}

class EachPass : public testing::TestWithParam<Sample> {};

TEST_P(EachPass, KeepsValues) {
    const Sample& s = GetParam();
    const Mask active = differentiable_parameters(*s.function);
    const FunctionPtr forms[] = {s.function, transform::jvp(s.function, active).function, pullback_of(s.function, active)};
    for (const FunctionPtr& f : forms) {
        const Arguments x = more_arguments(*f, s.arguments);
        for (const pass::Pass& p : pass::passes()) {
            expect_same(f, p.run(f), x, f->name() + " " + std::string(p.name));
            expect_same(f, pass::optimize(f, {.off = p.name, .after = {}}), x, f->name() + " without " + std::string(p.name));
        }
        const FunctionPtr all = pass::optimize(f);
        expect_same(f, all, x, f->name() + " all");
        expect_same(f, pass::optimize(all), x, f->name() + " all twice");
    }
}

INSTANTIATE_TEST_SUITE_P(Samples, EachPass, testing::ValuesIn(smooth_samples()), [](const testing::TestParamInfo<Sample>& p) {
    std::string name = p.param.name;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

} // namespace
} // namespace stithy::test
