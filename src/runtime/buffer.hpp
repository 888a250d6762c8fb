#pragma once
#include "runtime/intrusive.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace stithy::runtime {

/// Why a computation has no value. Its results, and what was to be computed from them, share one record.
class Failure final : public RefCounted {
public:
    explicit Failure(std::exception_ptr exception) : exception_(std::move(exception)) {}

    /// Throws the exception and notes that somebody has seen it.
    [[noreturn]] void raise() const;
    [[nodiscard]] bool reported() const noexcept { return reported_.load(std::memory_order_relaxed); }
    void set_reported() const noexcept { reported_.store(true, std::memory_order_relaxed); }

private:
    std::exception_ptr exception_;
    mutable std::atomic<bool> reported_{false};
};

/// Memory of one array, perhaps still being computed. A buffer is pending, then ready or failed, for good.
///
/// Data of up to 4 KiB stands in the same block as the buffer itself. A larger pending buffer has no memory until the call that
/// computes it starts and says `materialize` or `adopt`.
class Buffer final {
public:
    using Deleter = void (*)(void* context);

    /// A ready buffer of uninitialised memory. Throws Error when out of memory.
    [[nodiscard]] static Ref<Buffer> allocate(std::size_t bytes);
    /// A buffer whose value is to come, without memory.
    [[nodiscard]] static Ref<Buffer> make_pending(std::size_t bytes);
    /// A ready buffer over memory of others; `deleter(context)` is called when the last handle goes (it may be null).
    /// Never written in place: `exclusive()` is false.
    [[nodiscard]] static Ref<Buffer> borrow(void* data, std::size_t bytes, Deleter deleter, void* context);
    /// A ready buffer over a part of another one, which it keeps alive.
    [[nodiscard]] static Ref<Buffer> alias(const Ref<Buffer>& whole, std::size_t offset, std::size_t bytes);
    /// A buffer that failed before it began.
    [[nodiscard]] static Ref<Buffer> make_failed(std::size_t bytes, Ref<Failure> failure);

    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    /// The memory; null for a pending buffer that has none yet. Does not wait.
    [[nodiscard]] void* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

    /// True when the value or its error is there: one load, no wait.
    [[nodiscard]] bool done() const noexcept { return (word_.load(std::memory_order_acquire) & state_mask) != 0; }
    /// True when the value is there.
    [[nodiscard]] bool ready() const noexcept { return (word_.load(std::memory_order_acquire) & state_mask) == ready_bit; }
    [[nodiscard]] bool failed() const noexcept { return (word_.load(std::memory_order_acquire) & state_mask) == failed_bit; }
    /// Waits for the value; throws what the computation threw.
    void wait() const {
        if (!ready()) [[unlikely]]
            wait_slowly();
    }
    /// Waits until `done()`; throws only when that can never be (a call that waits for its own result).
    void wait_done() const;
    /// Why it failed; null unless `failed()`.
    [[nodiscard]] const Ref<Failure>& failure() const noexcept { return failure_; }

    /// True when whoever holds the only handle may write into the memory: no other handle to this buffer or to the one
    /// whose memory it uses, and the memory is ours.
    [[nodiscard]] bool exclusive() const noexcept;

    // For the call that computes a pending buffer:

    /// Takes memory unless the buffer has some; gives it. Throws Error when out of memory.
    void* materialize();
    /// Uses the memory of a dying operand (at least as large) from now on.
    void adopt(Ref<Buffer> storage) noexcept;
    /// Ends the wait of everybody. The second form gives up the handle in the same instant, so that a waiter finds itself the only holder.
    void set_ready() noexcept;
    static void set_ready(Ref<Buffer>&& buffer) noexcept;
    void set_failed(Ref<Failure> failure) noexcept;

    // Counting, for Ref.
    void retain() const noexcept { word_.fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] bool release() const noexcept {
        if ((word_.load(std::memory_order_acquire) & count_mask) == 1) return true;
        return (word_.fetch_sub(1, std::memory_order_acq_rel) & count_mask) == 1;
    }
    [[nodiscard]] std::uint32_t use_count() const noexcept {
        return static_cast<std::uint32_t>(word_.load(std::memory_order_acquire) & count_mask);
    }
    static void destroy(Buffer* buffer) noexcept;

private:
    // One word holds the count (low half), the state and whether somebody sleeps on it (high half).
    static constexpr std::uint64_t count_mask = 0xffffffffu;
    static constexpr std::uint64_t ready_bit = std::uint64_t{1} << 32;
    static constexpr std::uint64_t failed_bit = std::uint64_t{2} << 32;
    static constexpr std::uint64_t state_mask = ready_bit | failed_bit;
    static constexpr std::uint64_t waiter_bit = std::uint64_t{4} << 32;
    enum class Storage : std::uint8_t { none, inside, pooled, shared, borrowed };
    struct Lender {
        Deleter deleter;
        void* context;
    };

    Buffer(std::uint64_t state, std::size_t bytes) noexcept : word_(1 | state), bytes_(bytes) {}
    ~Buffer();
    static Buffer* place(std::size_t extra, std::uint64_t state, std::size_t bytes);
    void wait_slowly() const;
    void share(Ref<Buffer> owner, void* data) noexcept;
    [[nodiscard]] const std::uint32_t* futex_word() const noexcept;

    mutable std::atomic<std::uint64_t> word_;
    void* data_ = nullptr;
    std::size_t bytes_;
    union {
        Lender lender_;
        Buffer* owner_ = nullptr;
    };
    Ref<Failure> failure_;
    std::uint16_t room_ = 0; // bytes of data that the buffer's own block has
    Storage storage_ = Storage::none;
};

} // namespace stithy::runtime
