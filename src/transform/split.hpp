#pragma once
#include "transform/common.hpp"

namespace stithy::transform {

/// Where a value that the unknown half needs comes from.
struct ResidualSource {
    enum Kind : std::uint8_t {
        parameter, ///< parameter `index` of the split function (a known one)
        result,    ///< known result `index` of the split function (counted among its known results)
        extra,     ///< extra result `index` of the known half
    };
    Kind kind;
    std::size_t index;
};

/// A function cut in two by what is known.
struct Split {
    FunctionPtr known;   ///< known parameters -> known results, then extras
    FunctionPtr unknown; ///< residuals, then unknown parameters -> unknown results
    std::vector<ResidualSource> residuals;
    Mask unknown_results;          ///< of the split function
    std::size_t known_results = 0; ///< number of known results, without extras
    std::size_t extras = 0;
};

/// Partial evaluation: operations that depend on unknown parameters go to `unknown`, the rest to `known`; structured operations are cut
/// inside. forced[r]: result r is to be returned by the unknown half even when it is known. Loops keep as residuals the least they can: see
/// residuals.hpp.
Split split(const Function& f, const Mask& unknown_parameters, const Mask& forced = {});

} // namespace stithy::transform
