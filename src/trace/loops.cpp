#include "stithy/loops.hpp"

#include "array/bind.hpp"
#include "ir/structured.hpp"
#include "stithy/elementwise.hpp"
#include "stithy/shaping.hpp"
#include "trace/staging.hpp"

#include <limits>

namespace stithy::detail {

namespace {

using ir::OpCode;

[[noreturn]] void refuse_structure(const char* what, const Location& location) {
    const std::string where = describe(location);
    throw Error(std::string(what) + (where.empty() ? "" : " (" + where + ")"));
}

/// A body traced on symbols.
struct Body {
    Ref<StagingTrace> trace;
    Arrays results;
};

std::vector<ir::Type> types_of(const Arrays& arrays, const char* what, const char* name, const Location& location) {
    std::vector<ir::Type> types;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (!arrays[i].defined()) check_usable(arrays[i], i, what, name, location);
        types.push_back(node(arrays[i]).type());
    }
    return types;
}

template <class F>
Body trace_body(const char* name, std::span<const ir::Type> parameters, const Location& location, F f) {
    Body body{make_ref<StagingTrace>(name), {}};
    TraceScope scope(*body.trace);
    Arrays in;
    for (const ir::Type& t : parameters) in.push_back(body.trace->parameter(t, location));
    body.results = f(in);
    for (std::size_t i = 0; i < body.results.size(); ++i) check_usable(body.results[i], i, "what the body returns", name, location);
    body.trace->take_results(body.results);
    return body;
}

/// What bodies use from outside, each once.
Arrays united(std::span<const Body> bodies) {
    Arrays all;
    for (const Body& b : bodies)
        for (const Array& x : b.trace->captures()) {
            bool known = false;
            for (const Array& y : all) known = known || y.handle() == x.handle();
            if (!known) all.push_back(x);
        }
    return all;
}

void check_carries(const char* name, std::span<const ir::Type> before, const Arrays& after, const Location& location) {
    for (std::size_t i = 0; i < before.size(); ++i) {
        const ArrayNode& n = node(after[i]);
        if (n.type() == before[i]) continue;
        std::string text =
            "carried array " + std::to_string(i) + " enters as " + before[i].str() + " and the body returns " + n.type().str();
        if (!(n.dtype() == before[i].dtype())) {
            const bool integer_start = !before[i].dtype().is_floating() && n.dtype().is_floating();
            text += integer_start ? "; start it with a floating value (0.0 instead of 0)" : "; convert with astype so that the dtype stays";
        }
        fail(name, text, n.location().line() != 0 ? n.location() : location);
    }
}

Arrays bind_op(OpCode code, const Arrays& operands, ir::AttrPtr attr, std::span<const ir::FunctionPtr> regions, const Location& location) {
    return bind({.code = code, .operands = operands, .attr = std::move(attr), .regions = regions, .declared = {}, .location = location});
}

/// A counter value as an array of a dtype.
Array number(DType dtype, std::int64_t value, const Location& location) {
    const ir::Literal l = ir::Literal::splat(ir::Type(dtype, Shape{}), value);
    return constant(l, location);
}

Array as_bound(const Bound& b, DType dtype) {
    if (b.is_number()) return number(dtype, b.value(), b.location());
    const ArrayNode& n = node_of(b.array(), "fori_loop", b.location());
    if (n.shape().rank() != 0 || !n.dtype().is_integer())
        fail("fori_loop", "bound " + n.type().str() + ", expected an integer of rank 0", b.location());
    return b.array().astype(dtype, b.location());
}

/// Steps through a loop as written, for disable_jit.
Arrays step_through(const Bound& lower, const Bound& upper, DType dtype, Arrays carries,
                    FunctionRef<Arrays(const Array&, const Arrays&)> body) {
    const auto value = [](const Bound& b) { return b.is_number() ? b.value() : b.array().item<std::int64_t>(b.location()); };
    const std::int64_t from = value(lower), to = value(upper);
    for (std::int64_t i = from; i < to; ++i) carries = body(number(dtype, i, lower.location()), carries);
    return carries;
}

bool steps_can_run() { return disable_jit::active() && !innermost_staging(); }

} // namespace

Arrays run_fori(const Bound& lower, const Bound& upper, const Arrays& carries, FunctionRef<Arrays(const Array&, const Arrays&)> body) {
    const Location& location = lower.location();
    const DType dtype = promote(lower.dtype(), upper.dtype());
    if (!dtype.is_integer()) fail("fori_loop", "bounds of dtype " + std::string(dtype.name()) + ", expected integers", location);
    if (steps_can_run()) return step_through(lower, upper, dtype, carries, body);
    const std::vector<ir::Type> types = types_of(carries, "the carry", "fori_loop", location);
    const bool zero_based = lower.is_number() && lower.value() == 0;
    const Array start = zero_based ? Array() : as_bound(lower, dtype);
    std::vector<ir::Type> parameters{ir::Type(i64, Shape{})};
    parameters.insert(parameters.end(), types.begin(), types.end());
    Body traced = trace_body("fori_loop", parameters, location, [&](const Arrays& in) {
        Array counter = in[0].astype(dtype, location);
        if (!zero_based) counter = Operand(counter, location) + Operand(start, location);
        return body(counter, Arrays(in.begin() + 1, in.end()));
    });
    if (traced.results.size() != carries.size()) refuse_structure("fori_loop: the body returns another structure than the carry", location);
    check_carries("fori_loop", types, traced.results, location);
    ir::LoopAttr attr;
    Arrays operands;
    if (lower.is_number() && upper.is_number()) {
        attr.length = upper.value() > lower.value() ? upper.value() - lower.value() : 0;
    } else {
        const Array to = as_bound(upper, i64), from = as_bound(lower, i64);
        const Array steps = Operand(to, location) - Operand(from, location);
        const Array any = Operand(to, location) > Operand(from, location);
        operands.push_back(where(Operand(any, location), Operand(steps, location), Operand(std::int64_t{0}, location)));
    }
    const Arrays captures = traced.trace->captures();
    const ir::FunctionPtr region = traced.trace->finish(traced.results, 1, captures);
    attr.invariants = static_cast<std::int64_t>(captures.size());
    attr.carries = static_cast<std::int64_t>(carries.size());
    operands.insert(operands.end(), captures.begin(), captures.end());
    operands.insert(operands.end(), carries.begin(), carries.end());
    const ir::FunctionPtr regions[] = {region};
    return bind_op(OpCode::loop, operands, ir::make_attr(attr), regions, location);
}

Arrays run_while(const Arrays& carries, FunctionRef<Array(const Arrays&)> condition, FunctionRef<Arrays(const Arrays&)> body,
                 const std::source_location& location) {
    if (steps_can_run()) {
        Arrays now = carries;
        while (condition(now).item<bool>(location)) now = body(now);
        return now;
    }
    const std::vector<ir::Type> types = types_of(carries, "the carry", "while_loop", location);
    const Body test = trace_body("while_loop", types, location, [&](const Arrays& in) { return Arrays{condition(in)}; });
    const ArrayNode& predicate = node(test.results[0]);
    if (predicate.shape().rank() != 0 || !predicate.dtype().is_bool())
        fail("while_loop", "the condition gives " + predicate.type().str() + ", expected bool[]", location);
    const Body step = trace_body("while_loop", types, location, body);
    if (step.results.size() != carries.size()) refuse_structure("while_loop: the body returns another structure than the carry", location);
    check_carries("while_loop", types, step.results, location);
    const Body bodies[] = {test, step};
    const Arrays captures = united(bodies);
    const ir::FunctionPtr regions[] = {test.trace->finish(test.results, 0, captures), step.trace->finish(step.results, 0, captures)};
    Arrays operands = captures;
    operands.insert(operands.end(), carries.begin(), carries.end());
    return bind_op(OpCode::while_, operands, ir::make_attr(ir::WhileAttr{static_cast<std::int64_t>(captures.size())}), regions, location);
}

namespace {

std::int64_t scan_length(const Arrays& xs, std::int64_t length, const Location& location) {
    for (std::size_t i = 0; i < xs.size(); ++i) {
        check_usable(xs[i], i, "xs", "scan", location);
        const ArrayNode& n = node(xs[i]);
        if (n.shape().rank() == 0)
            fail("scan", "array " + std::to_string(i) + " of xs is " + n.type().str() + ", expected a leading axis to go along", location);
        if (length >= 0 && n.shape()[0] != length)
            fail("scan",
                 (i == 0 ? "the option length is " + std::to_string(length) + ", the leading axis "
                         : "leading axes of extents " + std::to_string(length) + " and ") +
                     std::to_string(n.shape()[0]) + " (array " + std::to_string(i) + " of xs, " + n.type().str() + "), expected equal ones",
                 location);
        length = n.shape()[0];
    }
    if (length < 0) fail("scan", "xs holds no array: give the number of steps as options.length", location);
    return length;
}

} // namespace

Arrays run_scan(const Arrays& carries, const Arrays& xs, std::int64_t given_length, bool reverse,
                FunctionRef<Arrays(const Arrays&, const Arrays&)> body, const std::source_location& location) {
    const std::int64_t length = scan_length(xs, given_length, location);
    const std::vector<ir::Type> types = types_of(carries, "the carry", "scan", location);
    std::vector<ir::Type> parameters{ir::Type(i64, Shape{})};
    parameters.insert(parameters.end(), types.begin(), types.end());
    for (const Array& x : xs) {
        Dims dims = node(x).shape().dims();
        dims.erase(0);
        parameters.emplace_back(node(x).dtype(), Shape(std::move(dims)));
    }
    const std::size_t n = carries.size();
    Body traced = trace_body("scan", parameters, location, [&](const Arrays& in) {
        const auto middle = in.begin() + 1 + static_cast<std::ptrdiff_t>(n);
        return body(Arrays(in.begin() + 1, middle), Arrays(middle, in.end()));
    });
    if (traced.results.size() < n) refuse_structure("scan: the body returns another structure than the carry", location);
    check_carries("scan", types, traced.results, location);
    const Arrays captures = traced.trace->captures();
    const ir::FunctionPtr regions[] = {traced.trace->finish(traced.results, 1, captures)};
    ir::LoopAttr attr;
    attr.length = length;
    attr.reverse = reverse;
    attr.invariants = static_cast<std::int64_t>(captures.size());
    attr.carries = static_cast<std::int64_t>(n);
    attr.xs = static_cast<std::int64_t>(xs.size());
    attr.ys = static_cast<std::int64_t>(traced.results.size() - n);
    Arrays operands = captures;
    operands.insert(operands.end(), carries.begin(), carries.end());
    operands.insert(operands.end(), xs.begin(), xs.end());
    return bind_op(OpCode::loop, operands, ir::make_attr(attr), regions, location);
}

namespace {

/// Whether the selector's value can be looked at: it is no symbol.
bool is_known(const Array& x) {
    const Array* at = &x;
    while (node(*at).traced()) {
        if (node(*at).trace()->is_staging()) return false;
        at = &node(*at).below();
    }
    return true;
}

/// The index clamped to the branches, as the i32 that `case` takes.
Array clamped_selector(const Array& index, std::int64_t last, const Location& at) {
    const bool wide = index.dtype().size() >= 4; // a narrow dtype may not hold `last`
    const Array held = wide ? index : index.astype(i32, at);
    return clip({held, at}, {0, at}, {last, at}).astype(i32, at);
}

} // namespace

Arrays run_branches(const Operand& index, bool is_predicate, std::size_t count, const Arrays& arguments,
                    FunctionRef<Arrays(std::size_t, const Arrays&)> branch) {
    const char* name = is_predicate ? "cond" : "switch_";
    const Location& location = index.location();
    const auto last = static_cast<std::int64_t>(count) - 1;
    // the branch for an index whose bits are known: clamped in its own dtype, which may hold more than an i64
    const auto chosen = [&](const ir::Literal& l) {
        const std::int64_t i = l.element_as_int(0);
        if (is_predicate) return static_cast<std::size_t>(i != 0 ? 0 : 1);
        if (l.type().dtype() == u64 && i < 0) return static_cast<std::size_t>(last);
        return static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, last));
    };
    if (index.is_number()) {
        if (index.number_dtype().is_floating()) fail(name, "the selector is a floating number", location);
        return branch(chosen(ir::Literal::splat_bits(ir::Type(index.number_dtype(), Shape{}), index.number_bits())), arguments);
    }
    const ArrayNode& n = node_of(index.array(), name, location);
    if (n.shape().rank() != 0 || n.dtype().is_floating() || (is_predicate && !n.dtype().is_bool()))
        fail(name, "the selector is " + n.type().str() + ", expected " + (is_predicate ? "bool[]" : "an integer of rank 0"), location);
    check_usable(index.array(), name, location);
    if (is_known(index.array())) {
        const std::uint64_t bits = read_element(index.array().handle(), n.dtype(), name, location);
        return branch(chosen(ir::Literal::splat_bits(n.type(), bits)), arguments);
    }
    const std::vector<ir::Type> types = types_of(arguments, "the arguments", name, location);
    std::vector<Body> bodies;
    bodies.reserve(count);
    for (std::size_t k = 0; k < count; ++k)
        bodies.push_back(trace_body(name, types, location, [&](const Arrays& in) { return branch(k, in); }));
    const std::vector<ir::Type> first = types_of(bodies[0].results, "the result", name, location);
    for (std::size_t k = 0; k < count; ++k) {
        const std::vector<ir::Type> mine = types_of(bodies[k].results, "the result", name, location);
        for (std::size_t r = 0; r < std::max(first.size(), mine.size()); ++r)
            if (r >= first.size() || r >= mine.size() || !(mine[r] == first[r]))
                fail(name,
                     "branch " + std::to_string(k) + " gives " + (r < mine.size() ? mine[r].str() : "nothing") + " where branch 0 gives " +
                         (r < first.size() ? first[r].str() : "nothing"),
                     location);
    }
    const Arrays captures = united(bodies);
    ir::Regions regions;
    regions.reserve(count);
    for (Body& b : bodies) regions.push_back(b.trace->finish(b.results, types.size(), captures));
    Arrays operands{is_predicate ? index.array() : clamped_selector(index.array(), last, location)};
    operands.insert(operands.end(), arguments.begin(), arguments.end());
    operands.insert(operands.end(), captures.begin(), captures.end());
    return bind_op(is_predicate ? OpCode::if_ : OpCode::case_, operands, nullptr, regions, location);
}

void check_structure(const char* what, TreeRef before, TreeRef after, const std::source_location& location) {
    if (structure_of(before) != structure_of(after)) refuse_structure(what, location);
}

void SameStructure::check(const char* what, TreeRef tree, const std::source_location& location) {
    std::string mine = structure_of(tree);
    if (seen_ && mine != first_) refuse_structure(what, location);
    if (!seen_) first_ = std::move(mine);
    seen_ = true;
}

} // namespace stithy::detail
