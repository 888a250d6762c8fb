// Shape rules of the structured operations; their derivatives and batching are transformations of their regions (transform/).
#include "ir/structured.hpp"
#include "ops/build.hpp"
#include "ops/check.hpp"
#include "ops/families.hpp"

namespace stithy::ops {

namespace {
/// Checks that a region takes these types.
void expect_parameters(const InferContext& c, const ir::Function& region, TypeRefs types, std::string_view what) {
    if (region.parameter_count() != types.size())
        refuse(c, std::string(what) + " takes " + std::to_string(region.parameter_count()) + " values, expected " +
                      std::to_string(types.size()));
    for (std::size_t i = 0; i < types.size(); ++i)
        if (const Type& t = region.type(static_cast<ValueId>(i)); !(t == types[i]))
            refuse(c, std::string(what) + " takes " + t.str() + " as value " + std::to_string(i) + ", given " + types[i].str());
}

void expect_regions(const InferContext& c, std::size_t count) {
    if (c.regions.size() != count) refuse(c, std::to_string(c.regions.size()) + " regions, expected " + std::to_string(count));
}

const Type& result_type(const ir::Function& f, std::size_t r) { return f.type(f.results()[r]); }

bool is_scalar_bool(const Type& t) { return t.is_tensor() && t.rank() == 0 && t.dtype().is_bool(); }

Types infer_while(const InferContext& c) {
    expect_regions(c, 2);
    const auto invariants = static_cast<std::size_t>(c.get<ir::WhileAttr>().invariants);
    expect_parameters(c, *c.regions[0], c.operands, "the condition");
    expect_parameters(c, *c.regions[1], c.operands, "the body");
    if (c.regions[0]->results().size() != 1 || !is_scalar_bool(result_type(*c.regions[0], 0))) refuse(c, "the condition must give bool[]");
    const std::size_t carries = c.operands.size() - invariants;
    if (c.regions[1]->results().size() != carries)
        refuse(c, "the body gives " + std::to_string(c.regions[1]->results().size()) + " values, expected " + std::to_string(carries));
    Types types;
    for (std::size_t i = 0; i < carries; ++i) {
        const Type& given = c.operands[invariants + i];
        if (!(result_type(*c.regions[1], i) == given))
            refuse(c, "the body changes carried value " + std::to_string(i) + " from " + given.str() + " to " +
                          result_type(*c.regions[1], i).str());
        types.push_back(given);
    }
    return types;
}

Types infer_branches(const InferContext& c) {
    if (c.operands.empty() || c.regions.empty()) refuse(c, "expected a selector and branches");
    const Type& selector = c.operands[0];
    if (c.code == OpCode::if_) {
        expect_regions(c, 2);
        if (!is_scalar_bool(selector)) refuse(c, "predicate " + selector.str() + ", expected bool[]");
    } else if (!selector.is_tensor() || selector.rank() != 0 || !(selector.dtype() == i32)) {
        refuse(c, "index " + selector.str() + ", expected i32[]");
    }
    Types types;
    for (ValueId r : c.regions[0]->results()) types.push_back(c.regions[0]->type(r));
    for (std::size_t k = 0; k < c.regions.size(); ++k) {
        const ir::Function& branch = *c.regions[k];
        expect_parameters(c, branch, c.operands.slice(1, c.operands.size() - 1), "branch " + std::to_string(k));
        if (branch.results().size() != types.size())
            refuse(c, "branch " + std::to_string(k) + " gives " + std::to_string(branch.results().size()) + " values, branch 0 gives " +
                          std::to_string(types.size()));
        for (std::size_t r = 0; r < types.size(); ++r)
            if (!(result_type(branch, r) == types[r]))
                refuse(c, "branch " + std::to_string(k) + " gives " + result_type(branch, r).str() + ", branch 0 gives " + types[r].str());
    }
    return types;
}

Types infer_call(const InferContext& c) {
    expect_regions(c, 1);
    expect_parameters(c, *c.regions[0], c.operands, "the function " + c.regions[0]->name());
    Types types;
    for (ValueId r : c.regions[0]->results()) types.push_back(c.regions[0]->type(r));
    return types;
}

void expect_loop_parameter(const InferContext& c, const ir::LoopLayout& layout, std::size_t p) {
    const auto& attr = c.get<ir::LoopAttr>();
    const Type &inside = c.regions[0]->type(static_cast<ValueId>(p)), &given = c.operands[layout.operand_of(p)];
    if (layout.is_x(p)) {
        if (!given.is_tensor() || !inside.is_tensor() || !(given == ir::stacked(inside, attr.length)))
            refuse(c, "the body takes slices " + inside.str() + " of an input " + given.str() + " over " + std::to_string(attr.length) +
                          " steps");
    } else if (!(inside == given)) {
        refuse(c, "the body takes " + inside.str() + " where " + given.str() + " is given");
    }
}

Types infer_loop(const InferContext& c) {
    expect_regions(c, 1);
    const auto& attr = c.get<ir::LoopAttr>();
    const ir::LoopLayout layout(attr);
    const ir::Function& body = *c.regions[0];
    if (c.operands.size() != layout.operands() || body.parameter_count() != layout.parameters() ||
        body.results().size() != layout.results())
        refuse(c, "operands and body do not match the loop's groups");
    if (layout.trip && !(c.operands[0] == Type(i64, Shape{}))) refuse(c, "number of steps " + c.operands[0].str() + ", expected i64[]");
    if (attr.length < 0 && (layout.xs || layout.ys)) refuse(c, "a loop of unknown length neither takes slices nor stacks");
    if (!(body.type(0) == Type(i64, Shape{}))) refuse(c, "the body's counter is " + body.type(0).str() + ", expected i64[]");
    for (std::size_t p = 1; p < layout.parameters(); ++p) expect_loop_parameter(c, layout, p);
    for (std::size_t i = 0; i < layout.carries + layout.accumulators; ++i)
        if (const Type& before = body.type(static_cast<ValueId>(layout.carry(i))); !(result_type(body, i) == before))
            refuse(c,
                   "the body changes carried value " + std::to_string(i) + " from " + before.str() + " to " + result_type(body, i).str());
    Types types;
    for (std::size_t i = 0; i < layout.results(); ++i) {
        types.push_back(i < layout.y_result(0) ? result_type(body, i) : ir::stacked(result_type(body, i), attr.length));
        if (types.back().is_tensor()) expect_extents(c, types.back());
    }
    return types;
}

Types infer_tuple(const InferContext& c) {
    std::vector<Type> members;
    for (std::size_t i = 0; i < c.operands.size(); ++i) members.push_back(c.operands[i]);
    return {Type::tuple(std::move(members))};
}

Types infer_get_tuple_element(const InferContext& c) {
    expect_operands(c, 1);
    const std::int64_t index = c.get<ir::DimAttr>().dim;
    if (c.operands[0].kind() != ir::TypeKind::tuple) refuse(c, "operand " + c.operands[0].str() + ", expected a tuple");
    expect_axis(c, index, c.operands[0].members().size(), "element");
    return {c.operands[0].members()[static_cast<std::size_t>(index)]};
}

Types infer_custom_call(const InferContext& c) {
    Types types;
    for (const Type& t : c.declared) types.push_back(t);
    return types;
}

Values jvp_tuple(const JvpContext& c) {
    SmallVector<Value, 4> members;
    for (std::size_t i = 0; i < c.operands.size(); ++i) members.push_back(c.tangents[i] ? c.tangents[i] : zeros_like(c.operands[i]));
    return emit_like(c.builder, c.op, members);
}

Values transpose_tuple(const TransposeContext& c) {
    Values out;
    for (std::size_t i = 0; i < c.operands.size(); ++i)
        out.push_back(c.linear[i] ? emit1(c.builder, OpCode::get_tuple_element, {c.cotangents[0]},
                                          ir::make_attr(ir::DimAttr{static_cast<std::int64_t>(i)}))
                                  : Value());
    return out;
}

Values jvp_element(const JvpContext& c) { return emit_like(c.builder, c.op, c.tangents); }

Values transpose_element(const TransposeContext& c) {
    SmallVector<Value, 4> members;
    for (const Type& t : c.types[0].members()) members.push_back(zeros(c.builder, t));
    members[static_cast<std::size_t>(c.op.get<ir::DimAttr>().dim)] = c.cotangents[0];
    return {emit1(c.builder, OpCode::tuple, members)};
}
} // namespace

Rule find_control(OpCode code) {
    switch (code) {
    case OpCode::while_: return {infer_while};
    case OpCode::case_:
    case OpCode::if_: return {infer_branches};
    case OpCode::call: return {infer_call};
    case OpCode::loop: return {infer_loop};
    case OpCode::tuple: return {infer_tuple, jvp_tuple, transpose_tuple};
    case OpCode::get_tuple_element: return {infer_get_tuple_element, jvp_element, transpose_element};
    case OpCode::custom_call: return {infer_custom_call};
    default: return {};
    }
}

} // namespace stithy::ops
