#include "pass/optimize.hpp"

#include "pass/accumulate.hpp"
#include "pass/counted_while.hpp"
#include "pass/cse.hpp"
#include "pass/dce.hpp"
#include "pass/induction.hpp"
#include "pass/inline_calls.hpp"
#include "pass/invariant_carries.hpp"
#include "pass/licm.hpp"
#include "pass/outer_products.hpp"
#include "pass/products.hpp"
#include "pass/rewrite.hpp"
#include "pass/scan_slices.hpp"
#include "pass/simplify.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace stithy::pass {

namespace {
constexpr Pass list[] = {
    {"inline", inline_calls, Pass::Where::structured},
    {"simplify", simplify},
    {"accumulate", join_accumulators, Pass::Where::structured},
    {"invariants", settle_invariants, Pass::Where::structured},
    {"count-whiles", count_whiles, Pass::Where::structured},
    {"induction", derive_counters, Pass::Where::structured},
    {"scans", slices_of_scans, Pass::Where::structured},
    {"simplify", simplify, Pass::Where::structured, true},
    {"products", fold_transposes},
    {"cse", share_common},
    {"licm", hoist_invariants, Pass::Where::structured},
    {"dce", drop_dead},
    {"outer-products", gather_outer_products, Pass::Where::structured},
};

bool is_off(std::string_view name, std::string_view off) {
    if (off == "all") return name != "inline";
    for (std::size_t at = 0; at <= off.size();) {
        const std::size_t comma = std::min(off.find(',', at), off.size());
        if (off.substr(at, comma - at) == name) return true;
        at = comma + 1;
    }
    return false;
}

std::string_view off_by_environment() {
    static const std::string off = [] {
        const char* text = std::getenv("STITHY_PASSES_OFF");
        return std::string(text ? text : "");
    }();
    return off;
}
} // namespace

bool is_structured(const ir::Function& f) {
    return std::any_of(f.ops().begin(), f.ops().end(), [&](const ir::Op& op) {
        return (!op.regions.empty() && !is_reducer(op)) || (op.result_count > 0 && f.type(op.first_result).is_accumulator());
    });
}

std::span<const Pass> passes() { return list; }

ir::FunctionPtr optimize(const ir::FunctionPtr& f, const PassOptions& options) {
    ir::FunctionPtr out = f, simplified = f;
    const bool structured = is_structured(*f); // no pass brings regions or accumulators into a function without any
    for (const Pass& pass : list) {
        if (pass.where == Pass::Where::structured && !structured) continue;
        if (pass.again && out == simplified) continue;
        if (is_off(pass.name, options.off) || is_off(pass.name, off_by_environment())) continue;
        out = pass.run(out);
        if (pass.run == simplify) simplified = out;
        if (options.after) options.after(pass.name, *out);
    }
    return out;
}

} // namespace stithy::pass
