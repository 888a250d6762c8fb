#pragma once
#include "ir/attributes.hpp"

#include <optional>
#include <string>

namespace stithy::tool {

/// One check of a program: which of its outputs must agree, and how well.
struct Check {
    enum Kind { equal, close, almost } kind = equal;
    std::size_t actual = 0, expected = 0; ///< outputs
    std::uint64_t least_ulp = 0, most_ulp = 3;
    double tolerance = 1e-3;
};

/// The check of a custom call `check.expect_*`; nothing for other targets.
/// expect_eq: every element equal, NaN is not NaN. expect_close: units in the last place (default at most 3), any NaN is any NaN.
/// expect_almost_eq: absolute difference (default 1e-3).
std::optional<Check> check_of(const ir::CustomCallAttr& call);

/// Nothing when the values agree, else what differs.
std::optional<std::string> difference(const Check& check, const ir::Literal& actual, const ir::Literal& expected);

} // namespace stithy::tool
