#pragma once
#include "array/bind.hpp"
#include "ir/function.hpp"
#include "runtime/pool_allocator.hpp"

#include <unordered_map>

namespace stithy::detail {

/// A trace whose values are symbols: it collects operations into a Function. Arrays and values of lower traces that its operations use
/// become operands (captures), once each.
class StagingTrace final : public Trace {
public:
    explicit StagingTrace(std::string name) : Trace(Kind::staging, std::move(name)) {
        types_.reserve(48);
        ops_.reserve(32);
    }

    /// A parameter of the function; all are made before the first operation.
    Array parameter(const ir::Type& type, const Location& location = Location());
    Arrays bind(const Operation& operation) override;
    /// Appends the operations of a function on these arguments (arrays, values of this trace or of lower ones).
    Arrays inline_function(const ir::Function& f, std::span<const Array> arguments);

    /// The number behind a value of this trace that is a constant; null for others.
    [[nodiscard]] const ir::Literal* literal_of(const Array& x) const;

    /// Takes note of results while the trace is alive: checks them, and captures those that come from outside.
    void take_results(std::span<const Array> results);
    /// What the function uses from outside, in the order of first use.
    [[nodiscard]] const Arrays& captures() const { return captures_; }
    /// The function. Captures stand as parameters after `captures_at` of the parameters made by parameter(); `captures` gives their order
    /// (it holds at least this trace's own).
    ir::FunctionPtr finish(std::span<const Array> results, std::size_t captures_at, const Arrays& captures);
    ir::FunctionPtr finish(std::span<const Array> results) { return finish(results, parameters_, captures_); }

private:
    static constexpr std::uint32_t capture_bit = 0x80000000u;
    std::uint32_t id_of(const Array& x);
    [[nodiscard]] const ir::Type& type(std::uint32_t id) const { return id & capture_bit ? capture_types_[id & ~capture_bit] : types_[id]; }
    Array result(std::uint32_t id, const Location& location);

    std::size_t parameters_ = 0;
    std::vector<ir::Type, runtime::PoolAllocator<ir::Type>> types_;
    std::vector<ir::Op, runtime::PoolAllocator<ir::Op>> ops_;
    Arrays captures_;
    std::vector<ir::Type> capture_types_;
    std::unordered_map<const void*, std::uint32_t> capture_of_;
};

} // namespace stithy::detail
