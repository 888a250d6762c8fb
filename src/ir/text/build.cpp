#include "ir/text/build.hpp"

#include "ir/text/parser.hpp"

#include <algorithm>
#include <array>

namespace stithy::ir::text {

namespace {
/// Annotations for programs on several devices or memories: on one device the value itself.
bool is_identity_target(std::string_view target) {
    static constexpr std::array targets = {"Sharding",
                                           "SPMDFullToShardShape",
                                           "SPMDShardToFullShape",
                                           "xla.sdy.FuncResultSharding",
                                           "xla.sdy.GlobalToLocalShape",
                                           "xla.sdy.LocalToGlobalShape",
                                           "annotate_device_placement",
                                           "LayoutConstraint"};
    return std::find(targets.begin(), targets.end(), target) != targets.end();
}

/// What the regions use from outside: in the written order, else in the order of the first use.
std::vector<ValueNumber> captures_of(const SyntaxOp& op) {
    std::vector<ValueNumber> captures = op.captures;
    for (const SyntaxRegion& region : op.regions)
        for (ValueNumber v : region.outer)
            if (std::find(captures.begin(), captures.end(), v) == captures.end()) captures.push_back(v);
    return captures;
}
} // namespace

ModuleBuilder::ModuleBuilder(const SyntaxModule& module, const Reader& reader, const CheckOp& check)
    : module_(module), reader_(reader), check_(check) {
    for (const SyntaxFunction& f : module.functions)
        if (!functions_.emplace(f.name, Entry{&f, nullptr, false}).second) reader.fail("@" + f.name + " is defined twice", f.at);
}

Module ModuleBuilder::build() {
    Module module;
    module.name = module_.name;
    for (const SyntaxFunction& f : module_.functions)
        if (f.has_body) {
            module.functions.emplace(f.name, function(f.name, f.at));
            if (f.is_public) module.public_names.push_back(f.name);
        }
    return module;
}

FunctionPtr ModuleBuilder::function(const std::string& name, std::size_t at) {
    const auto found = functions_.find(name);
    if (found == functions_.end()) reader_.fail("no function @" + name, at);
    Entry& entry = found->second;
    if (entry.built) return entry.built;
    if (!entry.syntax->has_body) reader_.fail("@" + name + " has no body", at);
    if (entry.building) reader_.fail("@" + name + " calls itself", at);
    if (++depth_ > 500) reader_.fail("calls nested too deeply", at);
    entry.building = true;
    entry.built = RegionBuilder(*this, *entry.syntax, name).build(entry.syntax->body, {}, false);
    --depth_;
    return entry.built;
}

FunctionPtr RegionBuilder::build(const SyntaxRegion& region, std::span<const ValueNumber> captures, bool copy_constants) {
    for (ValueNumber v : captures) values_.emplace(v, builder_.parameter(function_.value_types[v]));
    for (std::size_t i = 0; i < region.parameter_types.size(); ++i)
        values_.emplace(region.first_value + static_cast<ValueNumber>(i),
                        builder_.parameter(region.parameter_types[i], i < region.linear.size() && region.linear[i]));
    if (copy_constants) {
        for (ValueNumber v : region.outer) {
            const auto constant = function_.constants.find(v);
            if (constant == function_.constants.end()) module_.reader().not_supported("a reducer that uses values from outside", region.at);
            SyntaxOp from;
            from.at = region.at;
            values_.emplace(v, emit(from, OpCode::constant, {}, constant->second.type(), make_attr(ConstantAttr{constant->second})));
        }
    }
    for (const SyntaxOp& op : region.ops) build_operation(op);
    std::vector<ValueId> results;
    for (ValueNumber v : region.results) results.push_back(value(v));
    return builder_.finish(std::move(results));
}

std::vector<ValueId> RegionBuilder::operands(const SyntaxOp& op) const {
    std::vector<ValueId> ids;
    for (ValueNumber v : op.operands) ids.push_back(value(v));
    return ids;
}

void RegionBuilder::bind(const SyntaxOp& op, ValueId first) {
    for (std::size_t i = 0; i < op.result_types.size(); ++i)
        values_.emplace(op.first_result + static_cast<ValueNumber>(i), first + static_cast<ValueId>(i));
}

ValueId RegionBuilder::emit(const SyntaxOp& op, Op made, std::span<const Type> results) {
    for (const FunctionPtr& region : made.regions) // what holds an ordered operation keeps its place as well
        for (const Op& inner : region->ops())
            if (inner.effect == Effect::ordered) made.effect = Effect::ordered;
    if (module_.check()) {
        std::vector<Type> types;
        for (ValueId v : made.operands) types.push_back(builder_.type(v));
        try {
            module_.check()(made, types, results);
        } catch (const Error& e) {
            throw Error(module_.reader().where(op.at) + ": " + e.what());
        }
    }
    made.location = module_.reader().location(op.at);
    return builder_.append(std::move(made), results);
}

ValueId RegionBuilder::emit(const SyntaxOp& op, OpCode code, std::vector<ValueId> operands, const Type& result, AttrPtr attr) {
    Op made;
    made.code = code;
    made.operands = std::move(operands);
    made.attr = std::move(attr);
    return emit(op, std::move(made), std::span(&result, 1));
}

void RegionBuilder::build_operation(const SyntaxOp& op) {
    if (op.name == "func.call") return build_call(op, "callee");
    const auto code = opcode_of(op.name);
    if (!code || op.name.starts_with("check.") || op.name.starts_with("chlo.")) return build_composed(op);
    if (*code == OpCode::custom_call) return build_custom_call(op);
    if (!op.regions.empty()) return build_structured(*code, op);
    Op made;
    made.code = *code;
    made.operands = operands(op);
    made.attr = attribute_of(*code, op, module_.reader());
    if (*code == OpCode::while_ || *code == OpCode::case_ || *code == OpCode::if_ || *code == OpCode::reduce || *code == OpCode::scatter ||
        *code == OpCode::loop)
        module_.reader().fail(op.name + " without regions", op.at);
    if (*code == OpCode::constant && !(made.get<ConstantAttr>().value.type() == op.result_types.at(0)))
        module_.reader().fail("the constant is not of type " + op.result_types[0].text(), op.at);
    bind(op, emit(op, std::move(made), op.result_types));
}

void RegionBuilder::build_structured(OpCode code, const SyntaxOp& op) {
    const bool closed = code == OpCode::reduce || code == OpCode::scatter;
    const bool captures_allowed = code == OpCode::while_ || code == OpCode::case_ || code == OpCode::if_;
    if (!closed && !captures_allowed && code != OpCode::loop) module_.reader().fail(op.name + " takes no regions", op.at);
    const std::size_t expected = code == OpCode::while_ || code == OpCode::if_ ? 2 : code == OpCode::case_ ? op.regions.size() : 1;
    if (op.regions.size() != expected)
        module_.reader().fail(op.name + " has " + std::to_string(op.regions.size()) + " regions, not " + std::to_string(expected), op.at);
    const std::vector<ValueNumber> captures = captures_allowed ? captures_of(op) : std::vector<ValueNumber>();
    Op made;
    made.code = code;
    made.operands = operands(op);
    std::vector<ValueId> outside;
    for (ValueNumber v : captures) outside.push_back(value(v));
    const std::size_t place = code == OpCode::while_ ? 0 : std::min<std::size_t>(1, made.operands.size());
    made.operands.insert(made.operands.begin() + static_cast<std::ptrdiff_t>(place), outside.begin(), outside.end());
    for (const SyntaxRegion& region : op.regions)
        made.regions.push_back(RegionBuilder(module_, function_, std::string(ir::name(code))).build(region, captures, closed));
    if (code == OpCode::while_)
        made.attr = make_attr(WhileAttr{static_cast<std::int64_t>(captures.size())});
    else
        made.attr = attribute_of(code, op, module_.reader());
    bind(op, emit(op, std::move(made), op.result_types));
}

/// `call`, and `composite` as a call of its decomposition.
void RegionBuilder::build_call(const SyntaxOp& op, std::string_view key) {
    const Attribute* callee = op.find(key);
    if (callee == nullptr || callee->text.empty()) module_.reader().fail(op.name + " without " + std::string(key), op.at);
    FunctionPtr function = module_.function(callee->text, op.at);
    const auto fits = [](const std::vector<Type>& types, const auto& given, auto type_of) {
        return std::equal(types.begin(), types.end(), given.begin(), given.end(),
                          [&](const Type& t, const auto& g) { return t == type_of(g); });
    };
    if (!fits(function->parameter_types(), op.operands, [&](ValueNumber v) { return function_.value_types[v]; }) ||
        !fits(function->result_types(), op.result_types, [](const Type& t) { return t; }))
        module_.reader().fail("the call's types are not those of @" + callee->text, op.at);
    Op made;
    made.code = OpCode::call;
    made.operands = operands(op);
    made.attr = make_attr(CallAttr{callee->text});
    made.regions = {std::move(function)};
    bind(op, emit(op, std::move(made), op.result_types));
}

void RegionBuilder::build_custom_call(const SyntaxOp& op) {
    Op made;
    made.code = OpCode::custom_call;
    made.operands = operands(op);
    made.attr = attribute_of(OpCode::custom_call, op, module_.reader());
    const std::string& target = made.get<CustomCallAttr>().target;
    if (is_identity_target(target) && made.operands.size() == op.result_types.size()) {
        for (std::size_t i = 0; i < op.result_types.size(); ++i) {
            if (!(builder_.type(made.operands[i]) == op.result_types[i]))
                module_.reader().not_supported("custom_call @" + target + " that changes a shape", op.at);
            values_.emplace(op.first_result + static_cast<ValueNumber>(i), made.operands[i]);
        }
        return;
    }
    const Attribute* effect = op.find("has_side_effect");
    if ((effect != nullptr && effect->number != 0) || target.starts_with("check.")) made.effect = Effect::ordered;
    bind(op, emit(op, std::move(made), op.result_types));
}

} // namespace stithy::ir::text

namespace stithy::ir {

const FunctionPtr& Module::main() const {
    if (auto found = functions.find("main"); found != functions.end()) return found->second;
    if (public_names.size() == 1) return functions.find(public_names.front())->second;
    throw Error(public_names.empty() ? "the module has no public function" : "the module has several public functions and none is @main");
}

Module parse(std::string_view text, std::string_view file_name, const CheckOp& check) {
    if (text.starts_with("ML\xEFR"))
        throw Error(
            std::string(file_name) +
            ": this is MLIR bytecode, not StableHLO text; print the module as text (in JAX: exported.mlir_module() or lowered.as_text())");
    text::Reader reader(text, file_name);
    text::Parser parser(reader);
    const text::SyntaxModule syntax = parser.parse_module();
    return text::ModuleBuilder(syntax, reader, check).build();
}

} // namespace stithy::ir
