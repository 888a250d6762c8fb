#pragma once
#include <cstddef>
#include <cstdint>

/// What compiled code and the library know of each other. Everything here is plain C: offsets are part of the contract,
/// and of the key of cached code through `native_abi_version`.
namespace stithy::runtime {

inline constexpr int native_abi_version = 1;

struct Runtime;

/// Every compiled function: works on [begin, end) of its outermost loop (0, 1 when it has none). Gives 0, or a status.
using NativeFunction = std::int32_t (*)(Runtime* runtime, void* const* buffers, const std::int64_t* params, std::int64_t begin,
                                        std::int64_t end);

/// Statuses that the runtime itself gives. Codes from `first_free` on belong to whoever emits code.
enum NativeStatus : std::int32_t { native_ok = 0, native_out_of_memory = 1, native_failed = 2, native_first_free = 16 };

/// What went wrong first: the status, the number of the operation in the program (-1: unknown), and two numbers of its own.
struct NativeRecord {
    std::int32_t status;
    std::int32_t operation;
    std::int64_t detail[2];
};

/// Functions that compiled code may call.
struct NativeTable {
    /// `function` once for each chunk of [0, size), in parallel. Each chunk sees a Runtime of its own; the record of the lowest
    /// failing chunk ends up in the caller's, and its status is returned.
    std::int32_t (*parallel_for)(Runtime*, NativeFunction, void* const* buffers, const std::int64_t* params, std::int64_t size,
                                 std::int64_t chunk);
    /// 64-byte aligned scratch memory; null when there is none, with the record set.
    void* (*allocate)(Runtime*, std::int64_t bytes);
    /// Gives scratch memory of that size back; null is ignored.
    void (*release)(Runtime*, void* block, std::int64_t bytes);
    /// Fills the record unless it is filled already; gives the status.
    std::int32_t (*fail)(Runtime*, std::int32_t status, std::int32_t operation, std::int64_t detail0, std::int64_t detail1);
};

/// One call's view of the library, the first argument of all compiled code.
struct Runtime {
    const NativeTable* table;
    void* context; ///< of whoever makes the call; passed on to chunks
    NativeRecord record;
};
static_assert(offsetof(Runtime, table) == 0 && offsetof(Runtime, context) == 8 && offsetof(Runtime, record) == 16 && sizeof(Runtime) == 40);

/// A Runtime for one call.
[[nodiscard]] Runtime make_runtime(void* context = nullptr) noexcept;

} // namespace stithy::runtime
