#include "cpu/llvm/emitter.hpp"

namespace stithy::cpu {

using plan::Code;
using plan::LoopKind;
using plan::no_nest_value;

Emitter::Emitter(Ir& ir, const plan::Nest& nest, const TargetOptions& options)
    : ir_(ir), nest_(nest), options_(options), analysis_(analyse(nest, has_fma(options))), values_(nest.code.size()),
      slots_(nest.code.size(), nullptr), lane_slots_(nest.code.size(), nullptr),
      plans_(plan_vector_loops(nest, analysis_, options.vector_bytes)) {}

/// A function of the ABI of compiled code; the builder stands in its second block, the first is for frame memory and what is read once.
LLVMValueRef Emitter::open_function(const char* name) {
    LLVMTypeRef types[] = {ir_.pointer_type, ir_.pointer_type, ir_.pointer_type, ir_.i64_type, ir_.i64_type};
    const LLVMValueRef f = LLVMAddFunction(ir_.module, name, LLVMFunctionType(ir_.i32_type, types, 5, 0));
    ir_.function = f;
    ir_.attribute(f, "nounwind");
    if (options_.vector_bytes == 64) ir_.text_attribute(f, "prefer-vector-width", "512");
    if (options_.vector_bytes > 16) ir_.text_attribute(f, "stackrealign", ""); // else vectors that are set aside straddle cache lines
    runtime_ = LLVMGetParam(f, 0);
    buffers_ = LLVMGetParam(f, 1);
    params_ = LLVMGetParam(f, 2);
    begin_ = LLVMGetParam(f, 3);
    end_ = LLVMGetParam(f, 4);
    entry_ = ir_.block("entry");
    ir_.at(ir_.block("start"));
    return f;
}

void Emitter::close_function() {
    LLVMBuildRet(ir_.builder, LLVMConstNull(ir_.i32_type));
    ir_.at(entry_);
    ir_.jump(LLVMGetNextBasicBlock(entry_));
}

void Emitter::run() {
    open_function(options_.entry.c_str());
    emit_range(0, static_cast<NestValue>(nest_.code.size()));
    close_function();
}

void Emitter::emit_range(NestValue first, NestValue last) {
    for (NestValue at = first; at < last;) at = emit(at);
}

plan::NestValue Emitter::emit(NestValue at) {
    const Instruction& i = nest_.code[at];
    switch (i.code) {
    case Code::param:
    case Code::literal:
    case Code::fixed:
    case Code::range_begin:
    case Code::range_end:
    case Code::buffer: emit_entry_value(at); break;
    case Code::apply:
        if (!analysis_.folded[at]) emit_apply(at);
        break;
    case Code::load: emit_load(at); break;
    case Code::get: emit_get(at); break;
    case Code::offset: emit_offset(at); break;
    case Code::local: emit_local(at); break;
    case Code::store: emit_store(i); break;
    case Code::prefetch_hint: emit_prefetch(i); break;
    case Code::variable:
    case Code::reduction: emit_variable(at); break;
    case Code::set: emit_set(i); break;
    case Code::accumulate: emit_accumulate(at); break;
    case Code::loop: emit_loop(at); return analysis_.close[at] + 1;
    case Code::while_: emit_while(at); return analysis_.close[at] + 1;
    case Code::test: emit_test(i); break;
    case Code::if_: return emit_if(at);
    case Code::argument: {
        const Emitted& v = of(i.a);
        internal_check(v.shape == Shape::uniform, "an argument of a call differs between lanes");
        LLVMValueRef value = v.value;
        // Small integers are passed extended, as C compilers expect.
        const DType t = nest_.code[i.a].dtype;
        const bool pointer = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
        if (!pointer && !t.is_floating() && t.size() < 4)
            value =
                t.is_signed() ? LLVMBuildSExt(ir_.builder, value, ir_.i32_type, "") : LLVMBuildZExt(ir_.builder, value, ir_.i32_type, "");
        arguments_.push_back(value);
        break;
    }
    case Code::call: emit_call(i); break;
    case Code::else_:
    case Code::end: internal_error("a nest's blocks do not match");
    }
    return at + 1;
}

void Emitter::emit_call(const Instruction& i) {
    internal_check(!under_control_, "a call where lanes go different ways");
    std::vector<LLVMValueRef> all = {runtime_};
    all.insert(all.end(), arguments_.begin(), arguments_.end());
    arguments_.clear();
    check_status(ir_.call(nest_.symbols[i.slot].c_str(), ir_.i32_type, all, false));
}

/// Returns a status that is not 0 at once.
void Emitter::check_status(LLVMValueRef status) {
    const LLVMBasicBlockRef failed = ir_.block("failed"), next = ir_.block("called");
    ir_.branch(ir_.icmp(LLVMIntEQ, status, LLVMConstNull(ir_.i32_type)), next, failed);
    ir_.at(failed);
    LLVMBuildRet(ir_.builder, status);
    ir_.at(next);
}

void Emitter::emit_loop(NestValue at) {
    const Instruction& i = nest_.code[at];
    const auto kind = static_cast<LoopKind>(i.aux);
    if (analysis_.vector_loop[at] == at) return emit_vector_loop(at);
    if (kind == LoopKind::unrolled) return emit_unrolled(at);
    if (kind == LoopKind::parallel && !outlined_ && analysis_.vector_loop[at] == no_nest_value) return emit_parallel_loop(at);
    const LLVMValueRef lower = scalar(i.a), upper = scalar(i.b);
    const Ir::Loop loop = ir_.open_loop(lower, upper);
    LLVMValueRef counter = loop.counter;
    if (i.flags & plan::flag_reverse) counter = ir_.sub(ir_.add(lower, ir_.sub(upper, ir_.index(1))), counter);
    of(at) = {.value = counter};
    emit_range(at + 1, analysis_.close[at]);
    ir_.close(loop);
}

void Emitter::emit_unrolled(NestValue at) {
    const Instruction& i = nest_.code[at];
    const auto lower = static_cast<std::int64_t>(nest_.code[i.a].slot), upper = static_cast<std::int64_t>(nest_.code[i.b].slot);
    for (std::int64_t k = lower; k < upper; ++k) {
        of(at) = {.value = ir_.index(i.flags & plan::flag_reverse ? lower + upper - 1 - k : k)};
        emit_range(at + 1, analysis_.close[at]);
    }
}

void Emitter::emit_while(NestValue at) {
    While w = {ir_.block("while"), ir_.block("left"), nullptr};
    const LLVMValueRef outer_mask = mask_;
    const bool outer_control = under_control_;
    if (analysis_.masked[at]) {
        w.active = ir_.allocate(Ir::widen(ir_.i1_type, lanes_));
        ir_.store(full_mask(), w.active);
        under_control_ = true;
    }
    ir_.jump(w.header);
    ir_.at(w.header);
    if (w.active) mask_ = ir_.load(Ir::widen(ir_.i1_type, lanes_), w.active);
    whiles_.push_back(w);
    emit_range(at + 1, analysis_.close[at]);
    whiles_.pop_back();
    ir_.jump(w.header);
    ir_.at(w.exit);
    mask_ = outer_mask;
    under_control_ = outer_control;
}

void Emitter::emit_test(const Instruction& i) {
    const While& w = whiles_.back();
    const LLVMBasicBlockRef next = ir_.block("again");
    if (!w.active) {
        ir_.branch(scalar(i.a), next, w.exit);
        ir_.at(next);
        return;
    }
    mask_ = ir_.bit_and(full_mask(), vector(i.a));
    ir_.store(mask_, w.active);
    ir_.branch(ir_.any(mask_), next, w.exit);
    ir_.at(next);
}

void Emitter::emit_branch(LLVMValueRef lanes, LLVMBasicBlockRef block, LLVMBasicBlockRef after, NestValue first, NestValue last) {
    const LLVMValueRef outer_mask = mask_;
    const bool outer_control = under_control_;
    ir_.at(block);
    if (lanes) {
        mask_ = lanes;
        under_control_ = true;
    }
    emit_range(first, last);
    mask_ = outer_mask;
    under_control_ = outer_control;
    ir_.jump(after);
}

plan::NestValue Emitter::emit_if(NestValue at) {
    const NestValue middle = analysis_.close[at];
    const bool has_else = nest_.code[middle].code == Code::else_;
    const NestValue last = has_else ? analysis_.close[middle] : middle;
    const LLVMBasicBlockRef yes = ir_.block("if"), done = ir_.block("endif"), no = has_else ? ir_.block("else") : done;
    const NestValue predicate = nest_.code[at].a;
    if (!analysis_.masked[at]) {
        ir_.branch(scalar(predicate), yes, no);
        emit_branch(nullptr, yes, done, at + 1, middle);
        if (has_else) emit_branch(nullptr, no, done, middle + 1, last);
    } else { // both sides run, each for its lanes, and not at all when it has none
        const LLVMValueRef p = vector(predicate), all = full_mask();
        const LLVMValueRef on = ir_.bit_and(all, p), off = ir_.bit_and(all, LLVMBuildNot(ir_.builder, p, ""));
        const LLVMBasicBlockRef between = has_else ? ir_.block("between") : done;
        ir_.branch(ir_.any(on), yes, between);
        emit_branch(on, yes, between, at + 1, middle);
        if (has_else) {
            ir_.at(between);
            ir_.branch(ir_.any(off), no, done);
            emit_branch(off, no, done, middle + 1, last);
        }
    }
    ir_.at(done);
    return last + 1;
}

} // namespace stithy::cpu
