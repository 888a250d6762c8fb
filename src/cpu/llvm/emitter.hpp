#pragma once
#include "cpu/llvm/analysis.hpp"
#include "cpu/llvm/elementwise.hpp"
#include "cpu/llvm/ir.hpp"
#include "plan/nest.hpp"

#include <functional>
#include <map>

namespace stithy::cpu {

/// A value of the nest while code is emitted.
struct Emitted {
    LLVMValueRef value = nullptr;  ///< a scalar when uniform, the first lane's when linear, a vector when varying
    LLVMValueRef stride = nullptr; ///< linear: what the next lane has more
    Shape shape = Shape::uniform;
    bool per_lane = false; ///< pointers: each element stands once for each lane, side by side
};

/// Turns one nest into one function of the module.
class Emitter {
public:
    Emitter(Ir& ir, const plan::Nest& nest, const TargetOptions& options);
    void run();

private:
    using NestValue = plan::NestValue;
    using Instruction = plan::Instruction;

    // --- emitter.cpp: the walk and control ---
    void emit_range(NestValue first, NestValue last);
    NestValue emit(NestValue at); ///< gives the next instruction's position
    void emit_loop(NestValue at);
    void emit_unrolled(NestValue at);
    void emit_while(NestValue at);
    void emit_test(const Instruction& i);
    NestValue emit_if(NestValue at);
    void emit_branch(LLVMValueRef lanes, LLVMBasicBlockRef block, LLVMBasicBlockRef after, NestValue first, NestValue last);
    void emit_call(const Instruction& i);
    void check_status(LLVMValueRef status);
    LLVMValueRef open_function(const char* name);
    void close_function();

    // --- parallel_loop.cpp: loops that the runtime spreads over threads ---
    void emit_parallel_loop(NestValue at);
    LLVMValueRef emit_outlined(NestValue at, const std::vector<NestValue>& used, const std::vector<LLVMTypeRef>& types);
    [[nodiscard]] std::vector<NestValue> captures(NestValue loop) const;

    // --- values.cpp: reading and making values ---
    void emit_entry_value(NestValue at);
    void emit_apply(NestValue at);
    bool emit_linear(NestValue at);
    LLVMValueRef combine(ir::OpCode op, DType dtype, LLVMValueRef a, LLVMValueRef b);
    LLVMValueRef fused(NestValue at, LLVMValueRef other_operand, int lanes);
    Emitted& of(NestValue v) { return values_[v]; }
    LLVMValueRef scalar(NestValue v); ///< of a uniform value
    LLVMValueRef vector(NestValue v); ///< in all lanes of the current vector loop
    LLVMValueRef vector_of(const Emitted& e);
    LLVMValueRef shaped(NestValue v, bool as_vector) { return as_vector ? vector(v) : scalar(v); }
    int lanes_for(bool as_vector) const { return as_vector ? lanes_ : 1; }
    void give(NestValue at, LLVMValueRef value, bool as_vector);

    // --- memory.cpp: memory and variables ---
    void emit_load(NestValue at);
    void emit_store(const Instruction& i);
    void emit_prefetch(const Instruction& i);
    void emit_offset(NestValue at);
    void emit_local(NestValue at);
    void emit_variable(NestValue at);
    LLVMTypeRef variable_type(NestValue variable) const;
    void emit_get(NestValue at);
    void emit_set(const Instruction& i);
    LLVMValueRef to_memory(DType dtype, LLVMValueRef value);
    LLVMValueRef from_memory(DType dtype, LLVMValueRef value);
    LLVMValueRef load_lanes(DType dtype, LLVMValueRef pointer, LLVMValueRef mask);
    void store_lanes(DType dtype, LLVMValueRef value, LLVMValueRef pointer, LLVMValueRef mask);
    LLVMValueRef gather_lanes(DType dtype, LLVMValueRef places);
    void scatter_lanes(DType dtype, LLVMValueRef value, LLVMValueRef places);
    LLVMValueRef lane_pointers(LLVMTypeRef element, const Emitted& pointer, const Emitted& index);
    LLVMValueRef full_mask();

    // --- lane_access.cpp: access lane by lane, where the machine has nothing better ---
    [[nodiscard]] bool masks_are_cheap(DType dtype) const;
    [[nodiscard]] bool gathers_are_cheap(DType dtype) const;
    void over_lanes(LLVMValueRef mask, const std::function<void(LLVMValueRef lane)>& body);
    LLVMValueRef load_one_by_one(LLVMTypeRef type, LLVMValueRef places, LLVMValueRef mask);
    void store_one_by_one(LLVMValueRef value, LLVMValueRef places, LLVMValueRef mask);

    /// The lanes' part of a reduction from one vector loop: of its main loop and of its tail.
    struct Total {
        NestValue loop, reduction;
        LLVMValueRef wide = nullptr, narrow = nullptr;
        LLVMValueRef gathered = nullptr; ///< sums of floats: where the main loop's part goes from time to time
    };

    // --- vector_loop.cpp: vector loops and reductions ---
    void emit_vector_loop(NestValue at);
    void emit_lanes(NestValue at, int lanes, LLVMValueRef lower, LLVMValueRef upper, bool masked, bool wide);
    void open_totals(NestValue reduction);
    LLVMValueRef total(NestValue reduction);
    void gather_totals(NestValue loop, LLVMValueRef done, int lanes);
    void gather(const Total& total, int lanes);
    LLVMValueRef last_step_bits(LLVMValueRef size);
    LLVMValueRef tail_mask(LLVMValueRef left, LLVMValueRef last_bits);
    LLVMValueRef halved(ir::OpCode op, DType dtype, LLVMValueRef lanes, int width);
    void emit_accumulate(NestValue at);

    struct While {
        LLVMBasicBlockRef header = nullptr, exit = nullptr;
        LLVMValueRef active = nullptr; ///< memory of the lanes still running, when they differ
    };

    Ir& ir_;
    const plan::Nest& nest_;
    const TargetOptions& options_;
    Analysis analysis_;
    std::vector<Emitted> values_;
    std::vector<LLVMValueRef> slots_;       ///< frame memory of variables and reductions
    std::vector<LLVMValueRef> lane_slots_;  ///< of reductions, inside a vector loop that adds to them: frame memory of the lanes' part
    std::map<NestValue, VectorPlan> plans_; ///< of vector loops
    std::vector<Total> totals_;
    std::vector<LLVMValueRef> arguments_;
    std::vector<While> whiles_;
    int lanes_ = 1;                     ///< of the vector loop that is being emitted
    LLVMValueRef mask_ = nullptr;       ///< lanes that run; null: all
    bool outlined_ = false;             ///< inside the body of a parallel loop
    int parts_ = 0;                     ///< bodies of parallel loops so far
    bool under_control_ = false;        ///< some lanes are off because of an if or a while
    LLVMBasicBlockRef entry_ = nullptr; ///< frame memory and what is read once
    LLVMValueRef runtime_ = nullptr, buffers_ = nullptr, params_ = nullptr, begin_ = nullptr, end_ = nullptr;
};

} // namespace stithy::cpu
