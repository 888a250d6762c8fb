#pragma once
#include "plan/plan.hpp"
#include "runtime/native.hpp"

#include <span>

namespace stithy::cpu {

/// Runs the steps of a plan in order. `buffers` holds the memory of each of the plan's buffers, `code` the machine code of each step.
/// Throws Error when a step fails (the user's line of the operation, or `location` when that is unknown).
void run_steps(const plan::Plan& plan, std::span<const runtime::NativeFunction> code, void* const* buffers, const Location& location);

/// Throws the Error for a status that compiled code gave.
[[noreturn]] void raise_status(const runtime::NativeRecord& record, std::int32_t status, const plan::Step& step, const Location& location);

/// One nest over all of its units, by several threads when it is long.
std::int32_t run_nest(const plan::Step& step, runtime::NativeFunction code, runtime::Runtime& runtime, void* const* buffers,
                      const std::int64_t* params);

} // namespace stithy::cpu
