#pragma once
#include "ir/function.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace stithy::pass {

/// One optimisation of the list.
struct Pass {
    std::string_view name;
    ir::FunctionPtr (*run)(const ir::FunctionPtr&);
    enum class Where : std::uint8_t {
        everywhere,
        structured, ///< changes only functions for which `is_structured` holds
    };
    Where where = Where::everywhere;
    bool again = false; ///< left out unless a pass since the one before it of this name changed something
};
/// Whether a function holds regions (reducers like a sum's aside) or accumulators.
bool is_structured(const ir::Function& f);
/// All passes in the order in which `optimize` runs them; a name may come twice.
std::span<const Pass> passes();

struct PassOptions {
    /// Names of passes to leave out, separated by commas; "all" leaves out every one that is not needed to run (calls are inlined all the
    /// same).
    std::string_view off;
    /// Called after each pass with its name and what it made: for dumps and for verification in tests.
    std::function<void(std::string_view, const ir::Function&)> after;
};

/// Runs the passes. `STITHY_PASSES_OFF` in the environment adds to `off`.
ir::FunctionPtr optimize(const ir::FunctionPtr& f, const PassOptions& options = {});

} // namespace stithy::pass
