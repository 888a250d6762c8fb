// Random programs: the reference interpreter against each pass, derivatives against differences, batches against loops, all against machine
// code.
#include "cpu/compare.hpp"
#include "pass/check.hpp"
#include "property/random_programs.hpp"
#include "transform/check.hpp"

namespace stithy::test {
namespace {

constexpr unsigned seeds = 40;

TEST(Random, Derivatives) {
    for (unsigned seed = 0; seed < seeds && !::testing::Test::HasFailure(); ++seed) {
        const Sample s = RandomProgram(seed).make(10);
        check_transforms(s.function, s.arguments, "seed " + std::to_string(seed), seed % 4 == 0 ? 2 : 1, 1e-5);
    }
}

TEST(Random, Batches) {
    for (unsigned seed = 100; seed < 100 + seeds && !::testing::Test::HasFailure(); ++seed) {
        const Sample s = RandomProgram(seed).make(8);
        check_vmap(s.function, s.arguments, "seed " + std::to_string(seed), 2);
    }
}

TEST(Random, Passes) {
    for (unsigned seed = 200; seed < 200 + seeds && !::testing::Test::HasFailure(); ++seed) {
        const Sample s = RandomProgram(seed).make(12);
        const FunctionPtr back = pullback_of(s.function, differentiable_parameters(*s.function));
        Arguments more = s.arguments;
        for (std::size_t p = more.size(); p < back->parameter_count(); ++p)
            more.push_back(random_literal(back->type(static_cast<ir::ValueId>(p)), static_cast<unsigned>(p)));
        for (const auto& [f, x] : {std::pair{s.function, s.arguments}, std::pair{back, more}}) {
            const std::string what = "seed " + std::to_string(seed) + " ";
            expect_same(f, pass::optimize(f), x, what + "all", 1e-9);
            for (const pass::Pass& p : pass::passes()) {
                const FunctionPtr after = p.run(f);
                expect_same(f, after, x, what + std::string(p.name), 1e-9);
                if (p.where == pass::Pass::Where::structured && !p.again && !pass::is_structured(*f)) {
                    EXPECT_EQ(after, f) << what << p.name << " is left out for such functions";
                }
                expect_same(f, pass::optimize(f, {.off = p.name, .after = {}}), x, what + "without " + std::string(p.name), 1e-9);
            }
        }
    }
}

TEST(Random, MachineCode) {
    for (unsigned seed = 300; seed < 300 + seeds / 4 && !::testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Sample s = RandomProgram(seed).make(8);
        stithy::testing::check(s.function, s.arguments, 1e-9);
        const FunctionPtr back = pullback_of(s.function, differentiable_parameters(*s.function));
        Arguments more = s.arguments;
        for (std::size_t p = more.size(); p < back->parameter_count(); ++p)
            more.push_back(random_literal(back->type(static_cast<ir::ValueId>(p)), static_cast<unsigned>(p)));
        stithy::testing::check(back, more, 1e-9);
    }
}

class Compiled : public ::testing::TestWithParam<Sample> {};
TEST_P(Compiled, SamplesAndTheirGradients) {
    const Sample& s = GetParam();
    stithy::testing::check(s.function, s.arguments, 1e-10);
    const FunctionPtr back = pullback_of(s.function, differentiable_parameters(*s.function));
    Arguments more = s.arguments;
    for (std::size_t p = more.size(); p < back->parameter_count(); ++p)
        more.push_back(random_literal(back->type(static_cast<ir::ValueId>(p)), static_cast<unsigned>(p)));
    stithy::testing::check(back, more, 1e-10);
}
INSTANTIATE_TEST_SUITE_P(All, Compiled, ::testing::ValuesIn(smooth_samples()), [](const ::testing::TestParamInfo<Sample>& p) {
    std::string name = p.param.name;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

} // namespace
} // namespace stithy::test
