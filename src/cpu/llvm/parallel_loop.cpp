#include "cpu/llvm/emitter.hpp"

#include "runtime/native.hpp"

#include <algorithm>

namespace stithy::cpu {

using plan::Code;
using plan::no_nest_value;

namespace {

bool reads_slots_only(Code c) {
    return c == Code::param || c == Code::literal || c == Code::fixed || c == Code::buffer || c == Code::range_begin ||
           c == Code::range_end;
}

} // namespace

/// What the body of a loop uses from outside, each once.
std::vector<plan::NestValue> Emitter::captures(NestValue loop) const {
    std::vector<NestValue> found;
    for (NestValue at = loop + 1; at < analysis_.close[loop]; ++at) {
        const Instruction& i = nest_.code[at];
        const bool writes = i.code == Code::set || i.code == Code::accumulate;
        internal_check(!writes || i.a > loop, "a parallel loop changes a variable of its surroundings");
        for (NestValue v : {i.a, i.b, i.c}) {
            if (v != no_nest_value && v < loop) found.push_back(v);
        }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

/// A function of its own for the loop's body, which the runtime calls from several threads; what the body uses from outside is passed in a
/// table in place of the buffers: the buffers, the range, the loop's lower bound, then the captured values.
void Emitter::emit_parallel_loop(NestValue at) {
    const Instruction& i = nest_.code[at];
    const LLVMValueRef lower = scalar(i.a), upper = scalar(i.b);
    std::vector<LLVMValueRef> passed = {buffers_, begin_, end_, lower};
    const std::vector<NestValue> used = captures(at);
    for (NestValue v : used) {
        const Code c = nest_.code[v].code;
        if (reads_slots_only(c)) continue;
        if (c == Code::reduction)
            passed.push_back(total(v));
        else if (c == Code::variable)
            passed.push_back(ir_.load(variable_type(v), slots_[v]));
        else
            passed.push_back(scalar(v));
    }
    const LLVMValueRef table = ir_.allocate(LLVMArrayType(ir_.i64_type, static_cast<unsigned>(passed.size())));
    for (std::size_t k = 0; k < passed.size(); ++k)
        ir_.store(passed[k], ir_.element(ir_.i64_type, table, ir_.index(static_cast<std::int64_t>(k))), 8);

    std::vector<LLVMTypeRef> types;
    for (LLVMValueRef v : passed) types.push_back(LLVMTypeOf(v));
    const LLVMValueRef body = emit_outlined(at, used, types);

    const LLVMTypeRef arguments[] = {ir_.pointer_type, ir_.pointer_type, ir_.pointer_type, ir_.pointer_type, ir_.i64_type, ir_.i64_type};
    const LLVMTypeRef type = LLVMFunctionType(ir_.i32_type, const_cast<LLVMTypeRef*>(arguments), 6, 0);
    static_assert(offsetof(runtime::NativeTable, parallel_for) == 0);
    const LLVMValueRef parallel_for = ir_.load(ir_.pointer_type, ir_.load(ir_.pointer_type, runtime_));
    LLVMValueRef values[] = {runtime_, body, table, params_, ir_.sub(upper, lower), ir_.index(1)};
    check_status(LLVMBuildCall2(ir_.builder, type, parallel_for, values, 6, ""));
}

/// The emitter's state is set aside while the other function is written.
LLVMValueRef Emitter::emit_outlined(NestValue at, const std::vector<NestValue>& used, const std::vector<LLVMTypeRef>& types) {
    const LLVMBasicBlockRef back = ir_.here(), entry = entry_;
    const LLVMValueRef outer = ir_.function;
    const LLVMValueRef arguments[] = {runtime_, buffers_, params_, begin_, end_};
    const std::vector<Emitted> values = values_;
    const std::vector<LLVMValueRef> slots = slots_;
    const std::vector<Total> totals = totals_;
    totals_.clear();
    outlined_ = true;

    const LLVMValueRef body = open_function((options_.entry + "_part" + std::to_string(parts_++)).c_str());
    LLVMSetLinkage(body, LLVMInternalLinkage);
    const LLVMValueRef table = buffers_, first = begin_, last = end_;
    const auto passed = [&](std::size_t k) {
        return ir_.load(types[k], ir_.element(ir_.i64_type, table, ir_.index(static_cast<std::int64_t>(k))), 8);
    };
    const LLVMBasicBlockRef start = ir_.here();
    ir_.at(entry_);
    buffers_ = passed(0);
    begin_ = passed(1);
    end_ = passed(2);
    const LLVMValueRef lower = passed(3);
    ir_.at(start);
    std::size_t k = 4;
    for (Emitted& e : values_) e = {};
    for (NestValue v : used) {
        const Code c = nest_.code[v].code;
        if (reads_slots_only(c)) {
            emit_entry_value(v);
            continue;
        }
        const LLVMValueRef value = passed(k++);
        values_[v] = {.value = value};
        if (c != Code::variable && c != Code::reduction) continue;
        slots_[v] = ir_.allocate(LLVMTypeOf(value));
        ir_.store(value, slots_[v]);
    }
    const Ir::Loop loop = ir_.open_loop(ir_.add(first, lower), ir_.add(last, lower));
    of(at) = {.value = loop.counter};
    emit_range(at + 1, analysis_.close[at]);
    ir_.close(loop);
    close_function();

    outlined_ = false;
    values_ = values;
    slots_ = slots;
    totals_ = totals;
    entry_ = entry;
    ir_.function = outer;
    runtime_ = arguments[0];
    buffers_ = arguments[1];
    params_ = arguments[2];
    begin_ = arguments[3];
    end_ = arguments[4];
    ir_.at(back);
    return body;
}

} // namespace stithy::cpu
