#pragma once
#include "array/bind.hpp"
#include "ir/function.hpp"
#include "ops/value.hpp"
#include "transform/linearize.hpp"

#include <unordered_map>

namespace stithy::detail {

/// A linear function of tangents with the values that it needs, from a recording.
struct LinearProgram {
    ir::FunctionPtr linear;   ///< residuals.., tangents of the inputs.. -> tangents of the active outputs..
    Arrays residuals;         ///< one level below the recording
    std::vector<bool> active; ///< outputs that depend on the inputs
    std::vector<ir::Type> inputs, outputs;

    /// Tangents of the outputs (zeros where not active).
    [[nodiscard]] Arrays push(const Arrays& tangents) const;
    /// Cotangents of the inputs.
    [[nodiscard]] Arrays pull(const Arrays& cotangents) const;
};

/// A recording trace: an operation is performed one level below first; its derivative is then appended, by its jvp rule, to the linear
/// program of the recording. Only values that the linear program needs are kept. Structured operations are linearized at once, so that
/// below they run once and give their residuals.
class RecordingTrace final : public Trace {
public:
    explicit RecordingTrace(std::string name) : Trace(Kind::recording, std::move(name)), builder_("linear") { builder_.reserve(64, 64); }

    /// A floating array as an input that the program is linear in. All inputs are made before the first operation.
    Array input(const Array& x, const Location& location);
    Arrays bind(const Operation& operation) override;
    /// The value one level below.
    [[nodiscard]] Array below(const Array& x) const;
    /// Ends recording: the linear program from the inputs to these outputs. Call it after the trace's scope has ended.
    LinearProgram finish(const Arrays& outputs);

private:
    ops::Value tangent(const Array& x);
    /// A stand-in for a value one level below; it becomes a parameter if the program uses it.
    ops::Value stand_in(const Array& below);
    /// Marks the stand-ins that operations from `first_op` on and these values use, and keeps their arrays.
    void keep_used(std::size_t first_op, std::span<const ops::Value> values, std::span<const std::pair<ops::Value, Array>> stand_ins);
    Arrays bind_structured(const Operation& operation);
    Arrays attach(Arrays below, const ops::Values& tangents, const Location& location);

    ir::Builder builder_;
    std::vector<ir::ValueId> tangent_of_; ///< by a traced value's number
    std::vector<Array> kept_;             ///< by the builder's value: the arrays of stand-ins that are used
    std::unordered_map<const void*, ir::ValueId, std::hash<const void*>, std::equal_to<>,
                       runtime::PoolAllocator<std::pair<const void* const, ir::ValueId>>>
        seen_; ///< stand-in of an array that is kept
};

} // namespace stithy::detail
