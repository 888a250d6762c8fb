#include "runtime/buffer.hpp"

#include "base/error.hpp"
#include "runtime/allocator.hpp"
#include "runtime/queue.hpp"
#include "runtime/signal.hpp"

#include <bit>
#include <new>

namespace stithy::runtime {
namespace {

constexpr std::size_t header_bytes = 64;
constexpr std::size_t inside_limit = 4096;
constexpr int spins_before_sleep = 64; // a few microseconds

} // namespace

static_assert(sizeof(Buffer) <= header_bytes);

void Failure::raise() const {
    set_reported();
    std::rethrow_exception(exception_);
}

Buffer* Buffer::place(std::size_t extra, std::uint64_t state, std::size_t bytes) {
    void* const block = allocate_counted(header_bytes + extra, extra);
    auto* buffer = new (block) Buffer(state, bytes);
    if (extra || bytes == 0) { // an empty array points at its own header, which nobody reads through it
        buffer->storage_ = Storage::inside;
        buffer->data_ = static_cast<char*>(block) + (extra ? header_bytes : 0);
        buffer->room_ = static_cast<std::uint16_t>(extra);
    }
    return buffer;
}

Ref<Buffer> Buffer::allocate(std::size_t bytes) {
    if (bytes <= inside_limit) return Ref<Buffer>::adopt(place(bytes, ready_bit, bytes));
    Ref<Buffer> buffer = Ref<Buffer>::adopt(place(0, ready_bit, bytes));
    buffer->materialize();
    return buffer;
}

Ref<Buffer> Buffer::make_pending(std::size_t bytes) { return Ref<Buffer>::adopt(place(bytes <= inside_limit ? bytes : 0, 0, bytes)); }

Ref<Buffer> Buffer::borrow(void* data, std::size_t bytes, Deleter deleter, void* context) {
    Buffer* const buffer = new (allocate_counted(header_bytes, 0)) Buffer(ready_bit, bytes);
    buffer->data_ = data;
    buffer->storage_ = Storage::borrowed;
    buffer->lender_ = {deleter, context};
    return Ref<Buffer>::adopt(buffer);
}

Ref<Buffer> Buffer::alias(const Ref<Buffer>& whole, std::size_t offset, std::size_t bytes) {
    internal_check(whole->data_ && offset <= whole->bytes_ && bytes <= whole->bytes_ - offset, "a part that leaves its buffer");
    Ref<Buffer> part = Ref<Buffer>::adopt(new (allocate_counted(header_bytes, 0)) Buffer(ready_bit, bytes));
    part->share(whole, static_cast<char*>(whole->data_) + offset);
    return part;
}

Ref<Buffer> Buffer::make_failed(std::size_t bytes, Ref<Failure> failure) {
    Ref<Buffer> buffer = Ref<Buffer>::adopt(new (allocate_counted(header_bytes, 0)) Buffer(failed_bit, bytes));
    buffer->failure_ = std::move(failure);
    return buffer;
}

Buffer::~Buffer() {
    if (storage_ == Storage::pooled) deallocate(data_, bytes_);
    if (storage_ == Storage::shared) Ref<Buffer>::adopt(owner_).reset();
    if (storage_ == Storage::borrowed && lender_.deleter) lender_.deleter(lender_.context);
}

void Buffer::destroy(Buffer* buffer) noexcept {
    const std::size_t extra = buffer->room_;
    buffer->~Buffer();
    deallocate_counted(buffer, header_bytes + extra, extra);
}

/// Holds the buffer that the memory belongs to, never one in between: chains of hand-overs stay one link long.
void Buffer::share(Ref<Buffer> owner, void* data) noexcept {
    if (owner->storage_ == Storage::shared) owner = Ref<Buffer>(owner->owner_);
    data_ = data;
    owner_ = owner.detach();
    storage_ = Storage::shared;
}

bool Buffer::exclusive() const noexcept {
    if (use_count() != 1 || storage_ == Storage::borrowed) return false;
    return storage_ != Storage::shared || (owner_->use_count() == 1 && owner_->storage_ != Storage::borrowed);
}

void* Buffer::materialize() {
    if (storage_ == Storage::none) {
        data_ = runtime::allocate(bytes_);
        storage_ = Storage::pooled;
    }
    return data_;
}

void Buffer::adopt(Ref<Buffer> storage) noexcept {
    if (storage->storage_ == Storage::pooled && storage->bytes_ == bytes_ && storage.unique()) {
        data_ = std::exchange(storage->data_, nullptr);
        storage_ = std::exchange(storage->storage_, Storage::none);
        return;
    }
    void* const data = storage->data_;
    share(std::move(storage), data);
}

const std::uint32_t* Buffer::futex_word() const noexcept {
    static_assert(std::endian::native == std::endian::little, "the state is the second half of the word");
    return reinterpret_cast<const std::uint32_t*>(&word_) + 1;
}

void Buffer::set_ready() noexcept {
    const std::uint32_t* const word = futex_word();
    if (word_.fetch_or(ready_bit, std::memory_order_acq_rel) & waiter_bit) futex_wake(word, 1 << 30);
}

void Buffer::set_ready(Ref<Buffer>&& buffer) noexcept {
    Buffer* const object = buffer.detach();
    const std::uint32_t* const word = object->futex_word();
    // One addition sets the state, which was zero, and takes one from the count.
    const std::uint64_t before = object->word_.fetch_add(ready_bit - 1, std::memory_order_acq_rel);
    if ((before & count_mask) == 1)
        destroy(object);
    else if (before & waiter_bit)
        futex_wake(word, 1 << 30); // the buffer may be gone by now: only its address is used
}

void Buffer::set_failed(Ref<Failure> failure) noexcept {
    failure_ = std::move(failure);
    const std::uint32_t* const word = futex_word();
    if (word_.fetch_or(failed_bit, std::memory_order_acq_rel) & waiter_bit) futex_wake(word, 1 << 30);
}

void Buffer::wait_done() const {
    for (int i = 0; i < spins_before_sleep; ++i) {
        if (done()) return;
        spin_pause();
    }
    if (Queue* const queue = Queue::current()) { // inside a task: nobody else will run what comes later
        while (!done())
            if (!queue->help()) throw Error("a computation waits for a value that can only be computed after it has ended");
        return;
    }
    for (std::uint64_t word = word_.load(std::memory_order_acquire); (word & state_mask) == 0;
         word = word_.load(std::memory_order_acquire)) {
        if ((word & waiter_bit) == 0) {
            if (!word_.compare_exchange_weak(word, word | waiter_bit, std::memory_order_acq_rel)) continue;
            word |= waiter_bit;
        }
        futex_wait(futex_word(), static_cast<std::uint32_t>(word >> 32));
    }
}

void Buffer::wait_slowly() const {
    wait_done();
    if (failed()) failure_->raise();
}

} // namespace stithy::runtime
