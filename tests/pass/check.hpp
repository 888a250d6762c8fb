#pragma once
#include "pass/optimize.hpp"
#include "transform/samples.hpp"

namespace stithy::test {

inline Dims dims(std::initializer_list<std::int64_t> list) {
    Dims out;
    for (std::int64_t v : list) out.push_back(v);
    return out;
}

/// One pass of the list, by name.
inline FunctionPtr run_pass(std::string_view name, const FunctionPtr& f) {
    for (const pass::Pass& p : pass::passes())
        if (p.name == name) {
            const FunctionPtr out = p.run(f);
            verify(out);
            return out;
        }
    throw std::runtime_error("no such pass");
}

/// The function gives the same values after as before.
inline void expect_same(const FunctionPtr& before, const FunctionPtr& after, const Arguments& x, const std::string& what,
                        double tolerance = 1e-11) {
    SCOPED_TRACE(what);
    verify(after);
    const Arguments expected = run(before, x), got = run(after, x);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t r = 0; r < got.size(); ++r) expect_near(got[r], expected[r], tolerance, "result " + std::to_string(r));
}

} // namespace stithy::test
