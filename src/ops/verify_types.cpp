#include "ops/verify_types.hpp"

#include "ir/verify.hpp"

#include <unordered_set>

namespace stithy::ops {

namespace {
std::string list_text(std::span<const Type> types) {
    std::string text = "(";
    for (std::size_t i = 0; i < types.size(); ++i) text += (i != 0 ? ", " : "") + types[i].str();
    return text + ")";
}
} // namespace

void check_types(const Op& op, std::span<const Type> operands, std::span<const Type> results) {
    const auto inferred = infer(op.code, operands, op.attr, op.regions, results, op.location);
    if (std::equal(inferred.begin(), inferred.end(), results.begin(), results.end())) return;
    fail(ir::name(op.code), "stated results " + list_text(results) + ", expected " + list_text({inferred.begin(), inferred.end()}),
         op.location);
}

void verify_types(const ir::Function& function) {
    std::unordered_set<const ir::Function*> seen;
    std::vector<const ir::Function*> waiting{&function};
    while (!waiting.empty()) {
        const ir::Function& f = *waiting.back();
        waiting.pop_back();
        if (!seen.insert(&f).second) continue;
        for (const Op& op : f.ops()) {
            std::vector<Type> operands, results;
            for (ValueId v : op.operands) operands.push_back(f.type(v));
            for (std::uint32_t r = 0; r < op.result_count; ++r) results.push_back(f.type(op.result(r)));
            try {
                check_types(op, operands, results);
            } catch (const Error& e) {
                internal_error("verify_types: " + std::string(e.what()) + ": " + ir::describe(f, op));
            }
            for (const FunctionPtr& region : op.regions) waiting.push_back(region.get());
        }
    }
}

ir::Module parse(std::string_view text, std::string_view file_name) { return ir::parse(text, file_name, check_types); }

} // namespace stithy::ops
