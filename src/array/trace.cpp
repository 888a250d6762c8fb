#include "array/trace.hpp"

#include "array/bind.hpp"

#include <algorithm>

namespace stithy::detail {

namespace {
/// This thread's traces, outermost first, and where its innermost staging one stands.
struct Stack {
    std::vector<Trace*> traces;
    Trace* staging = nullptr;

    void find_staging() {
        staging = nullptr;
        for (Trace* t : traces)
            if (t->is_staging()) staging = t;
    }
};
thread_local Stack stack;
} // namespace

Trace::Trace(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}

TraceScope::TraceScope(Trace& trace) : trace_(&trace) {
    stack.traces.push_back(&trace);
    trace.level_ = static_cast<int>(stack.traces.size());
    trace.thread_ = std::this_thread::get_id();
    trace.alive_.store(true, std::memory_order_release);
    stack.find_staging();
}

TraceScope::~TraceScope() {
    trace_->alive_.store(false, std::memory_order_release);
    if (!stack.traces.empty() && stack.traces.back() == trace_.get()) stack.traces.pop_back();
    stack.find_staging();
}

TraceStackLimit::TraceStackLimit(int level) {
    const auto keep = std::min(static_cast<std::size_t>(level), stack.traces.size());
    hidden_.assign(stack.traces.begin() + static_cast<std::ptrdiff_t>(keep), stack.traces.end());
    stack.traces.resize(keep);
    stack.find_staging();
}

TraceStackLimit::~TraceStackLimit() {
    stack.traces.insert(stack.traces.end(), hidden_.begin(), hidden_.end());
    stack.find_staging();
}

std::span<Trace* const> trace_stack() { return stack.traces; }
Trace* innermost_staging() { return stack.staging; }

Array stage_splat(const Array& splat, const Location& location) {
    return bind1({.code = ir::OpCode::constant,
                  .operands = {},
                  .attr = ir::make_attr(ir::ConstantAttr{node(splat).splat_literal()}),
                  .regions = {},
                  .declared = {},
                  .location = location});
}

} // namespace stithy::detail
