#pragma once
#include "base/error.hpp"
#include "ir/attributes.hpp"
#include "ir/opcode.hpp"
#include "runtime/hash.hpp"
#include "runtime/pool_allocator.hpp"
#include "stithy/dtype.hpp"

#include <cstdint>
#include <string>

namespace stithy::plan {

using runtime::PoolVector;

/// Codes of the structured, device-neutral code that kernels and loops are written in. Instructions stand in one flat list; `loop`,
/// `while_`, `if_` open a block that `end` closes. An instruction's value is named by its position. Values of an inner block are visible
/// only inside; what leaves a block goes through a variable.
enum class Code : std::uint8_t {
    // --- values ---
    param,   ///< i64 params[slot]
    literal, ///< dtype; its bits are in the low bytes of params[slot]
    fixed, ///< dtype; the bits are `slot` itself. Only for 0, 1, -1, infinities, counts of small constant arrays: never for what comes from
           ///< a shape or a user's literal
    range_begin, ///< i64, first unit of this call
    range_end,   ///< i64, one past the last unit of this call
    apply, ///< elementwise operation `op` on a, b, c of one lane each; `dtype` is the result's; compare: `aux` = direction + 8 * kind. Also
           ///< index arithmetic (i64).
    ///< Semantics are StableHLO's (integer x/0 = -1, x%0 = x, INT_MIN/-1 = INT_MIN; shifts by >= width give 0 or the sign; float to integer
    ///< saturates, NaN -> 0; NaN wins in maximum and minimum).
    ///< OpCode::bitcast_convert between equal widths and OpCode::convert are among them.
    load, ///< dtype; a = pointer, b = index in elements
    get,  ///< value of variable a (or the total so far of reduction a, outside the loops that accumulate into it)
    // --- pointers ---
    buffer, ///< pointer buffers[slot]
    offset, ///< pointer a moved by b bytes (i64)
    local,  ///< pointer to `slot` elements of dtype in the frame, uninitialised (slot <= 64, constant: small arrays); allocated once per
            ///< call
    // --- effects ---
    store,      ///< pointer a, index b in elements, value c (dtype = the element's)
    variable,   ///< declares a mutable variable with first value a (dtype; `aux` = 1: a pointer)
    set,        ///< variable a = value b
    reduction,  ///< declares an accumulator of `op` (add, multiply, minimum, maximum, and, or, xor) with first value a. In a vector loop
                ///< inside its scope the lanes
                ///< accumulate apart and are joined in a fixed tree at that loop's end; in serial loops in order
    accumulate, ///< reduction a takes value b
    // --- control ---
    loop,   ///< i64 counter from a to b (exclusive), by 1 (`aux` = LoopKind; flag reverse: from b-1 down to a)
    while_, ///< repeats its block ...
    test,   ///< ... until a test in it (directly in the while's block) of a bool is false: leaves the while
    if_,    ///< a bool; block; then optionally
    else_,
    end,
    argument, ///< value a is the next argument of the following call
    call, ///< calls the symbol `symbols[slot]`: int32 f(Runtime*, arguments...); a status that is not 0 is returned from the function at
          ///< once.
          ///< Arguments are pointers, i64, or scalars of their dtype
    prefetch_hint, ///< the element at pointer a, index b will be needed soon, or overwritten (`aux` = 1); may be past the end. In a vector
                   ///< loop: those of all lanes,
                   ///< which stand side by side
};

enum class LoopKind : std::uint8_t {
    serial,
    vector, ///< lanes side by side, masked tail with the same vector code; no value may flow from one iteration to the next but through
            ///< reductions declared outside. Variables and reductions declared inside are one per lane; serial loops inside have bounds
            ///< that do not vary by lane
    units,  ///< the loop from range_begin to range_end: iterations are independent; the caller splits the range over threads (or the grid)
    parallel, ///< independent iterations inside a larger function, each worth some tens of microseconds: the runtime spreads them over
              ///< threads. The body may read what stands outside, but set or accumulate only what is declared inside. Serial inside another
              ///< parallel loop or a vector loop
    unrolled, ///< bounds are `fixed`; emitted flat
};

inline constexpr std::uint8_t flag_reverse = 1;

using NestValue = std::uint32_t;
inline constexpr NestValue no_nest_value = ~NestValue{0};

/// One instruction; plain data, so that a list of them is hashed and compared as bytes (padding is kept zero).
struct Instruction {
    Code code{};
    DType dtype = i64;
    ir::OpCode op{};
    std::uint8_t aux = 0;
    std::uint8_t flags = 0;
    std::uint8_t unused[3] = {0, 0, 0};
    NestValue a = no_nest_value, b = no_nest_value, c = no_nest_value;
    std::uint32_t unused2 = 0;
    std::uint64_t slot = 0;
};
static_assert(sizeof(Instruction) == 32);

/// One native function of the ABI int32 f(Runtime*, void* const* buffers, const int64_t* params, int64 begin, int64 end), as structured
/// code. Its instruction list is its identity: no number that comes from a shape or a literal stands in it.
struct Nest {
    PoolVector<Instruction> code;
    PoolVector<std::string> symbols; ///< names that `call` refers to
    runtime::Hash128 hash{};         ///< of both, as NestBuilder::finish made it

    friend bool operator==(const Nest& a, const Nest& b);
    /// Readable canonical form, one instruction a line; equal texts mean equal nests.
    [[nodiscard]] std::string text() const;
};

/// Appends instructions, with small simplifications of index arithmetic (x * 1, x + 0, products of fixed numbers) and sharing of repeated
/// pure values within a block.
class NestBuilder {
public:
    NestValue param(std::size_t slot);
    NestValue literal(DType dtype, std::size_t slot);
    NestValue fixed(DType dtype, std::uint64_t bits);
    NestValue fixed_int(std::int64_t value) { return fixed(i64, static_cast<std::uint64_t>(value)); }
    NestValue range_begin();
    NestValue range_end();
    NestValue apply(ir::OpCode op, DType dtype, NestValue a, NestValue b = no_nest_value, NestValue c = no_nest_value,
                    std::uint8_t aux = 0);
    NestValue compare(ir::Direction direction, NestValue a, NestValue b, ir::CompareKind kind = ir::CompareKind::number);
    NestValue add(NestValue a, NestValue b) { return apply(ir::OpCode::add, i64, a, b); }
    NestValue mul(NestValue a, NestValue b) { return apply(ir::OpCode::multiply, i64, a, b); }
    NestValue load(DType dtype, NestValue pointer, NestValue index);
    NestValue get(NestValue variable);
    NestValue buffer(std::size_t slot);
    NestValue offset(NestValue pointer, NestValue bytes);
    NestValue local(DType dtype, std::size_t count);
    void store(DType dtype, NestValue pointer, NestValue index, NestValue value);
    NestValue variable(DType dtype, NestValue first);
    NestValue pointer_variable(NestValue first);
    void prefetch_hint(DType dtype, NestValue pointer, NestValue index, bool writes);
    void set(NestValue variable, NestValue value);
    NestValue reduction(ir::OpCode combine, DType dtype, NestValue first);
    void accumulate(NestValue reduction, NestValue value);
    NestValue loop(LoopKind kind, NestValue lower, NestValue upper, bool reverse = false);
    void while_();
    void test(NestValue predicate);
    void if_(NestValue predicate);
    void else_();
    void end();
    void call(const std::string& symbol, std::initializer_list<NestValue> arguments);
    void call(const std::string& symbol, const PoolVector<NestValue>& arguments);

    [[nodiscard]] DType dtype(NestValue v) const { return nest_.code[v].dtype; }
    [[nodiscard]] const Nest& nest() const { return nest_; }
    Nest finish(); ///< checks that all blocks are closed

private:
    NestValue append(const Instruction& instruction);
    NestValue shared(const Instruction& instruction);
    NestValue simplified(ir::OpCode op, NestValue a, NestValue b) const;
    void open_block(const Instruction& instruction);
    void forget(std::size_t first); ///< takes the values from `first` on out of the table: their block has ended
    void grow();

    Nest nest_;
    PoolVector<std::size_t> open_; ///< first instruction of each open block
    // Pure values by hash: a chain per bucket, the newest first, so that a block's values leave from the heads.
    PoolVector<NestValue> heads_, next_;
    std::size_t count_ = 0;
};

/// Checks structure and dtypes of a nest; throws InternalError with its text.
void verify(const Nest& nest);

} // namespace stithy::plan
