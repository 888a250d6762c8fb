#pragma once
#include "plan/lowering.hpp"
#include "plan/memory.hpp"

namespace stithy::plan {

/// A function and how it is fused, made before the scope that refers to it.
struct BodyParts {
    Fused fused_form;
    MemoryPlan memory;
    PoolVector<bool> registers; ///< per value: one element, kept in a register
};

/// Values of a region that is written into a larger nest: one-element values in registers, small arrays in the frame, others in scratch
/// memory.
class BodyScope final : private BodyParts, public Scope {
public:
    /// `home`: per result, the parameter whose memory it may overwrite (the carry it becomes), or -1.
    BodyScope(Writer& w, const ir::Function& region, PoolVector<std::int32_t> home);

    enum class Where : std::uint8_t {
        in_register, ///< result_scalar()
        at_home,     ///< in the memory of its home parameter (computed in place, or the parameter itself)
        own,         ///< in the memory given by set_result_pointer
        elsewhere,   ///< the memory of something else; must be copied
    };
    [[nodiscard]] Where where(std::size_t result) const;
    /// Whether a result is a parameter as it came.
    [[nodiscard]] bool is_parameter(std::size_t result, std::size_t parameter) const {
        return fused.owner(function.results()[result]) == static_cast<ir::ValueId>(parameter);
    }
    [[nodiscard]] bool in_register(ir::ValueId v) const { return registers[fused.owner(v)]; }

    void set_parameter(std::size_t p, NestValue scalar_or_pointer);
    void set_result_pointer(std::size_t r, NestValue pointer);
    /// Writes all steps; gives the estimate in microseconds (below zero: unknown).
    double emit(Writer& w);
    NestValue result_scalar(Writer& w, std::size_t r) { return scalar(w, function.results()[r]); }
    NestValue result_pointer(Writer& w, std::size_t r) { return pointer(w, function.results()[r]); }

    NestValue pointer(Writer& w, ir::ValueId v) override;
    NestValue pointer_or_local(Writer& w, ir::ValueId v) override;
    NestValue scalar(Writer& w, ir::ValueId v) override;
    void set_scalar(Writer& w, ir::ValueId v, NestValue value) override;

private:
    [[nodiscard]] const ir::Literal* constant_of(ir::ValueId v) const;

    PoolVector<std::int32_t> home_;
    PoolVector<NestValue> scalars_;  ///< per value
    PoolVector<NestValue> pointers_; ///< per block
};

/// Kept in the frame, with constant extents in the code: all extents at most 8, at most 64 elements, more than one.
bool is_small(const ir::Type& type);

/// Copies all elements.
void copy_memory(Writer& w, const ir::Type& type, NestValue from, NestValue to);

/// Values that go round a loop.
class Carries {
public:
    struct Carry {
        ir::ValueId operand = 0, result = 0; ///< of the operation
        std::size_t parameter = 0, body_result = 0;
    };
    Carries(Writer& w, Scope& outer, BodyScope& body, PoolVector<Carry> carries);

    /// Before the loop.
    void begin();
    /// At the start of an iteration: gives the body its parameters (also to another region with the same parameters).
    void enter(BodyScope& region);
    /// At the end of an iteration, when the body has been written.
    void next();
    /// After the loop. `trips`: how often the body ran, or no_nest_value when only the loop knows.
    void finish(NestValue trips);

private:
    struct State {
        NestValue variable = no_nest_value;                    ///< of a register; or the pointer to the present value
        NestValue other = no_nest_value;                       ///< pointer variable: where the next value goes
        NestValue home = no_nest_value, spare = no_nest_value; ///< memory
        std::int32_t from = -1;                                ///< the carry whose present value is this one's next
        std::int32_t to = -1;                                  ///< the carry whose next value is this one's present
    };
    [[nodiscard]] const ir::Type& type(const Carry& c) const { return outer_.function.type(c.result); }
    [[nodiscard]] bool swaps(const Carry& c) const;
    void find_moves();

    Writer& w_;
    NestBuilder& b_;
    Scope& outer_;
    BodyScope& body_;
    PoolVector<Carry> carries_;
    PoolVector<State> states_;
    NestValue parity_ = no_nest_value;
};

} // namespace stithy::plan
