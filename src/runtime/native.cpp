#include "runtime/native.hpp"

#include "runtime/allocator.hpp"
#include "runtime/parallel.hpp"

#include <limits>
#include <mutex>

namespace stithy::runtime {
namespace {

std::int32_t record_failure(Runtime* runtime, std::int32_t status, std::int32_t operation, std::int64_t detail0, std::int64_t detail1) {
    if (runtime->record.status == native_ok) runtime->record = {status, operation, {detail0, detail1}};
    return status;
}

struct ParallelCall {
    const Runtime* parent;
    NativeFunction function;
    void* const* buffers;
    const std::int64_t* params;
    std::mutex mutex; // of what follows: failures are rare
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    NativeRecord record{};
};

std::int32_t run_chunk(void* context, std::int64_t begin, std::int64_t end) {
    auto& call = *static_cast<ParallelCall*>(context);
    Runtime own{call.parent->table, call.parent->context, {}};
    const std::int32_t status = call.function(&own, call.buffers, call.params, begin, end);
    if (status == native_ok) [[likely]]
        return native_ok;
    if (own.record.status == native_ok) own.record = {status, -1, {0, 0}};
    const std::lock_guard lock(call.mutex);
    if (begin < call.lowest) {
        call.lowest = begin;
        call.record = own.record;
    }
    return status;
}

std::int32_t run_parallel(Runtime* runtime, NativeFunction function, void* const* buffers, const std::int64_t* params, std::int64_t size,
                          std::int64_t chunk) {
    ParallelCall call{runtime, function, buffers, params, {}};
    const std::int32_t status = parallel_for(size, chunk, run_chunk, &call);
    if (status != native_ok)
        record_failure(runtime, call.record.status, call.record.operation, call.record.detail[0], call.record.detail[1]);
    return status;
}

void* take_scratch(Runtime* runtime, std::int64_t bytes) {
    void* const block = bytes >= 0 ? try_allocate(static_cast<std::size_t>(bytes)) : nullptr;
    if (!block) record_failure(runtime, native_out_of_memory, -1, bytes, 0);
    return block;
}

void give_scratch(Runtime*, void* block, std::int64_t bytes) { deallocate(block, static_cast<std::size_t>(bytes)); }

constexpr NativeTable table{run_parallel, take_scratch, give_scratch, record_failure};

} // namespace

Runtime make_runtime(void* context) noexcept { return {&table, context, {}}; }

} // namespace stithy::runtime
