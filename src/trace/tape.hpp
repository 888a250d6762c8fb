#pragma once
#include "array/bind.hpp"
#include "ir/function.hpp"

namespace stithy::detail {

/// Cuts a recording's tape into what is known, which is computed one level below at once, and the linear program: residuals.., tangents of
/// the inputs.. -> the tape's results. The tape's parameters are the tangents of its `inputs`; custom_calls without operands stand for
/// arrays, which `kept` holds by value.
ir::FunctionPtr cut_tape(const ir::Function& tape, std::size_t inputs, const Arrays& kept, Arrays& residuals);

} // namespace stithy::detail
