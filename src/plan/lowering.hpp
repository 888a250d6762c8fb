#pragma once
#include "plan/fuse.hpp"
#include "plan/nest.hpp"

#include <vector>

namespace stithy::plan {

/// The code of one nest while it is written, with the table of its numbers. Slots are given in order of first use, so that equal structures
/// give equal code.
class Writer {
public:
    NestBuilder b;

    /// A number that comes from a shape: a new slot of the parameter table. (Not shared by value: two equal extents today may differ
    /// tomorrow.)
    NestValue number(std::int64_t value) { return b.param(slot(value)); }
    /// The slot of such a number, for use in several blocks by `b.param`.
    std::size_t slot(std::int64_t value) {
        params_.push_back(value);
        return params_.size() - 1;
    }
    /// A scalar literal: 0, 1, -1 and infinities stand in the code, others in the table.
    NestValue literal(DType dtype, std::uint64_t bits);
    /// Step-private scratch memory of so many bytes, 64-byte aligned; ask in the outermost block or anywhere outside of loops that need it
    /// fresh.
    NestValue scratch(std::int64_t bytes);

    /// Pointer to the memory of a dense constant.
    NestValue constant(const ir::Literal& literal);

    struct Constant {
        std::size_t slot;
        ir::Literal literal;
    };
    [[nodiscard]] const PoolVector<Constant>& constants() const { return constants_; }
    [[nodiscard]] const PoolVector<std::int64_t>& params() const { return params_; }
    [[nodiscard]] std::int64_t scratch_bytes() const { return scratch_bytes_; }
    /// Slot of the scratch memory in the nest's buffer list, if any was asked for.
    [[nodiscard]] std::int64_t scratch_slot() const { return scratch_slot_; }
    /// The next slot of the nest's buffer list.
    std::size_t new_buffer() { return buffers_++; }
    [[nodiscard]] std::size_t buffer_count() const { return buffers_; }

private:
    PoolVector<std::int64_t> params_;
    PoolVector<Constant> constants_;
    std::int64_t scratch_bytes_ = 0, scratch_slot_ = -1;
    std::size_t buffers_ = 0;
};

/// Where the values of one function are found while its code is written. The top level gives each step its own nest and reads everything
/// from memory; loop bodies keep rank-0 values in registers and small arrays in the frame.
class Scope {
public:
    Scope(const ir::Function& f, const Fused& fused_form) : function(f), fused(fused_form) {}
    virtual ~Scope() = default;
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    const ir::Function& function;
    const Fused& fused;

    /// Pointer to the memory of a value that is stored.
    virtual NestValue pointer(Writer& w, ir::ValueId v) = 0;
    /// The same for a value that is only read and may be a one-element value without memory: then of a copy in the frame.
    virtual NestValue pointer_or_local(Writer& w, ir::ValueId v) { return pointer(w, v); }
    /// A rank-0 (or one-element) value.
    virtual NestValue scalar(Writer& w, ir::ValueId v) { return w.b.load(function.type(v).dtype(), pointer(w, v), w.b.fixed_int(0)); }
    /// Gives a one-element value that a step has computed.
    virtual void set_scalar(Writer& w, ir::ValueId v, NestValue value) {
        w.b.store(function.type(v).dtype(), pointer(w, v), w.b.fixed_int(0), value);
    }
    /// True at the top level: the outermost loop runs over the units of the call, [range_begin, range_end).
    [[nodiscard]] virtual bool has_units() const { return false; }
};

/// How a step's work may be split, and what it costs.
struct Work {
    std::int64_t units = 1; ///< the outermost loop's
    std::int64_t grain = 1; ///< units of a chunk
    double estimate_us = 0; ///< of all on one thread; below zero: unknown
};

/// Writes the code of one group (its loops, its operation) at the current place.
Work emit_step(Writer& w, Scope& scope, GroupId group);

/// Writes the fused loops of a group.
Work emit_loops(Writer& w, Scope& scope, GroupId group);

/// Copies all of a value to another one's memory (Group::Kind::copy when the two do not share memory).
Work emit_copy(Writer& w, Scope& scope, ir::ValueId source, ir::ValueId target);

/// Writes one operation that is lowered alone. The table of lowerings is in lower.cpp; an operation without one is an Error.
using LowerOperation = Work (*)(Writer& w, Scope& scope, const ir::Op& op);
LowerOperation lowering_of(ir::OpCode code);

/// The values of a region of rank-0 elementwise operations (a reducer, a scatter's update) on scalars.
PoolVector<NestValue> emit_region(Writer& w, const ir::Function& region, const PoolVector<NestValue>& arguments);

/// One elementwise operation on scalars.
NestValue emit_apply(Writer& w, const ir::Function& function, const ir::Op& op, const NestValue* operands);

} // namespace stithy::plan
