#pragma once
#include "backend.hpp"

namespace stithy::tool {

/// The function's parameters -> the gradient of the sum of its float results with respect to each parameter of `wrt`, in that order.
/// Throws Error for a parameter that is not there or not floating.
ir::FunctionPtr gradient_function(const ir::FunctionPtr& function, std::span<const std::int64_t> wrt);

/// That gradient at a point. Where reverse mode cannot go (loops of unknown length) and the parameters have few elements, forward mode, one
/// element at a time.
std::vector<ir::Literal> gradient(const ir::FunctionPtr& function, std::span<const std::int64_t> wrt,
                                  std::span<const ir::Literal> arguments, Backend& backend);

} // namespace stithy::tool
