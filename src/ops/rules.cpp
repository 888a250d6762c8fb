#include "ops/rules.hpp"

#include "ops/check.hpp"
#include "ops/families.hpp"

#include <algorithm>
#include <array>

namespace stithy::ops {

namespace {
using Finder = Rule (*)(OpCode);
constexpr Finder families[] = {
    find_elementwise, find_constant, find_reshape, find_slice, find_token,   find_dynamic,
    find_gather,      find_scatter,  find_reduce,  find_dot,   find_control, find_linear_types,
};

std::array<Rule, ir::opcode_count> make_table() {
    std::array<Rule, ir::opcode_count> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        for (Finder find : families) {
            table[i] = find(static_cast<OpCode>(i));
            if (table[i].infer != nullptr) break;
        }
    }
    return table;
}
} // namespace

const Rule& rule(OpCode code) {
    static const std::array<Rule, ir::opcode_count> table = make_table();
    return table[static_cast<std::size_t>(code)];
}

Types infer(const InferContext& context) {
    const InferRule found = rule(context.code).infer;
    if (found == nullptr) fail(ir::name(context.code), "this operation is not supported yet", context.location);
    Types types = found(context);
    for (const Type& t : types)
        if (t.is_tensor()) expect_extents(context, t);
    return types;
}

Types infer(OpCode code, std::span<const Type> operands, const AttrPtr& attr, std::span<const FunctionPtr> regions,
            std::span<const Type> declared, const Location& location) {
    SmallVector<const Type*, 8> refs;
    refs.reserve(operands.size());
    for (const Type& t : operands) refs.push_back(&t);
    return infer(InferContext{code, TypeRefs({refs.data(), refs.size()}), attr, regions, location, declared});
}

bool is_differentiable(const Type& type) {
    switch (type.kind()) {
    case ir::TypeKind::tensor:
    case ir::TypeKind::accumulator: return type.dtype().is_floating();
    case ir::TypeKind::token: return false;
    case ir::TypeKind::tuple:
    case ir::TypeKind::stack: return std::ranges::any_of(type.members(), is_differentiable);
    }
    return false;
}

} // namespace stithy::ops
