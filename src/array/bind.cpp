#include "array/bind.hpp"

#include "array/eager.hpp"
#include "array/fill.hpp"

#include <array>

namespace stithy::detail {

std::string made_at(const ArrayNode& node) {
    const std::string place = describe(node.location());
    return node.type().str() + (place.empty() ? "" : " (made at " + place + ")");
}

void check_usable(const Array& x, const char* operation, const Location& location) {
    const ArrayNode& n = node_of(x, operation, location);
    Trace* t = n.trace();
    if (!t) return;
    if (!t->alive()) {
        std::string made = describe(n.location());
        fail(operation,
             "a value " + (made.empty() ? std::string() : "made at " + made + " ") + "of a trace that has ended (" + t->name() +
                 ") was used; return it from the traced function instead of keeping it",
             location);
    }
    if (t->thread() != std::this_thread::get_id())
        fail(operation, "a traced value (" + t->name() + ") was used from another thread than the one that traces", location);
}

void check_usable(const Array& x, std::size_t position, const char* what, const char* operation, const Location& location) {
    if (!x.defined())
        fail(operation, "array " + std::to_string(position) + " of " + what + " is empty (default-made); assign one first", location);
    check_usable(x, operation, location);
}

Trace* join_trace(Trace* so_far, const Array& operand, const char* operation, const Location& location) {
    if (!operand.defined()) [[unlikely]]
        check_usable(operand, operation, location);
    Trace* t = node(operand).trace();
    if (!t) return so_far;
    check_usable(operand, operation, location);
    return !so_far || t->level() > so_far->level() ? t : so_far;
}

Trace* find_trace(std::span<const Array* const> operands, const char* operation, const Location& location) {
    Trace* found = innermost_staging();
    for (const Array* x : operands) found = join_trace(found, *x, operation, location);
    return found;
}

namespace {
Trace* find_trace(const Operation& operation) {
    Trace* found = innermost_staging();
    const char* name = ir::name(operation.code).data(); // NOLINT(bugprone-suspicious-stringview-data-usage): names are literals
    for (const Array& x : operation.operands) found = join_trace(found, x, name, operation.location);
    return found;
}
} // namespace

Arrays bind(const Operation& operation) {
    if (Trace* trace = find_trace(operation)) return trace->bind(operation);
    return run_now(operation);
}

Array bind1(const Operation& operation) {
    if (Trace* trace = find_trace(operation)) {
        Arrays results = trace->bind(operation);
        internal_check(results.size() == 1, "bind1 of an operation with another number of results");
        return std::move(results[0]);
    }
    return run_now1(operation);
}

Array bind1(ir::OpCode code, std::initializer_list<Array> operands, ir::AttrPtr attr, const Location& location) {
    return bind1({.code = code,
                  .operands = {operands.begin(), operands.size()},
                  .attr = std::move(attr),
                  .regions = {},
                  .declared = {},
                  .location = location});
}

Array bind_as(const ir::Type& result, ir::OpCode code, std::initializer_list<Array> operands, ir::AttrPtr attr, const Location& location) {
    return bind1({.code = code,
                  .operands = {operands.begin(), operands.size()},
                  .attr = std::move(attr),
                  .regions = {},
                  .declared = {&result, 1},
                  .location = location});
}

Array constant(const ir::Literal& literal, const Location& location) {
    if (innermost_staging()) return bind1(ir::OpCode::constant, {}, ir::make_attr(ir::ConstantAttr{literal}), location);
    return concrete_constant(literal, location);
}

Array concrete_constant(const ir::Literal& literal, const Location& location) {
    if (literal.is_splat()) return make_splat(literal.type().dtype(), literal.type().shape(), literal.bits(), location);
    auto buffer =
        name_shortage("constant", location, [&] { return runtime::Buffer::allocate(static_cast<std::size_t>(literal.type().bytes())); });
    literal.copy_to(static_cast<std::byte*>(buffer->data()));
    return make_concrete(literal.type().dtype(), literal.type().shape(), std::move(buffer), location);
}

const Array& bottom(const Array& x, const char* operation, const Location& location) {
    const Array* at = &x;
    check_usable(*at, operation, location);
    while (node(*at).traced()) {
        const ArrayNode& n = node(*at);
        if (n.trace()->is_staging())
            fail(operation,
                 "the value " + made_at(n) + " is traced (" + n.trace()->name() +
                     "): it has no number while the function is staged; choose by elements with where(), branch with cond()",
                 location.line() != 0 ? location : n.location());
        at = &n.below();
        internal_check(at->defined(), "a recorded value with nothing below");
    }
    return *at;
}

} // namespace stithy::detail
