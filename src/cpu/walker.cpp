#include "cpu/walker.hpp"

#include "base/small_vector.hpp"
#include "cpu/libraries.hpp"

#include <cstring>
#include <string>

namespace stithy::cpu {

namespace {
/// Below this a step is not worth waking other threads.
constexpr float least_parallel_us = 60;
} // namespace

void raise_status(const runtime::NativeRecord& record, std::int32_t status, const plan::Step& step, const Location& location) {
    const Location& line = step.location.line() != 0 ? step.location : location;
    std::string why = describe_library_status(record);
    if (why.empty() && status == runtime::native_out_of_memory)
        why = "out of memory: " + std::to_string(record.detail[0]) + " bytes of scratch memory are not to be had";
    if (why.empty()) why = "a computation failed with status " + std::to_string(status);
    fail("run", why, line);
}

std::int32_t run_nest(const plan::Step& step, runtime::NativeFunction code, runtime::Runtime& runtime, void* const* buffers,
                      const std::int64_t* params) {
    if (step.parallel && step.estimate_us >= least_parallel_us)
        return runtime.table->parallel_for(&runtime, code, buffers, params, step.units, step.grain);
    return code(&runtime, buffers, params, 0, step.units);
}

void run_steps(const plan::Plan& plan, std::span<const runtime::NativeFunction> code, void* const* buffers, const Location& location) {
    runtime::Runtime runtime = runtime::make_runtime();
    SmallVector<void*, 32> pointers;
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        const plan::Step& step = plan.steps[s];
        const plan::BufferId* ids = plan.step_buffers.data() + step.first_buffer;
        if (step.kind == plan::Step::Kind::copy) {
            void *to = buffers[ids[0]], *from = buffers[ids[1]];
            if (to != from) std::memcpy(to, from, static_cast<std::size_t>(plan.buffers[ids[1]].bytes));
            continue;
        }
        if (pointers.size() < step.buffer_count) pointers.resize(step.buffer_count);
        for (std::uint32_t i = 0; i < step.buffer_count; ++i) pointers[i] = buffers[ids[i]];
        const std::int32_t status = run_nest(step, code[s], runtime, pointers.data(), plan.params.data() + step.first_param);
        if (status != runtime::native_ok) [[unlikely]]
            raise_status(runtime.record, status, step, location);
    }
}

} // namespace stithy::cpu
