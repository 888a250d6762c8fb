#include "array/node.hpp"

#include "array/fill.hpp"
#include "array/trace.hpp"

#include <mutex>

namespace stithy::detail {

ArrayNode::ArrayNode(DType dtype, Shape shape, Device device, const Location& location)
    : dtype_(dtype), device_(device), shape_(std::move(shape)), location_(location) {}

ArrayNode::~ArrayNode() = default;

void ArrayNode::fill_buffer() const {
    static std::mutex mutex; // rare: a splat is filled once, a large one in the queue
    std::lock_guard lock(mutex);
    if (has_buffer_.load(std::memory_order_relaxed)) return;
    const auto write = [dtype = dtype_, elements = shape_.elements(), bits = bits_](void* data) {
        write_equal(data, dtype, elements, bits);
    };
    buffer_ = written_buffer("array", dtype_, shape_.elements(), write, location_);
    has_buffer_.store(true, std::memory_order_release);
}

void release_node(NodeCount* node) noexcept {
    if (node->references.load(std::memory_order_acquire) == 1 || node->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete static_cast<ArrayNode*>(node);
}

const ArrayNode& node_of(const Array& x, const char* operation, const Location& location) {
    if (!x.defined()) fail(operation, "the array is empty (default-made); assign one first", location);
    return node(x);
}

Array make_concrete(DType dtype, Shape shape, Ref<runtime::Buffer> buffer, const Location& location, Device device) {
    auto* made = new ArrayNode(dtype, std::move(shape), device, location);
    made->buffer_ = std::move(buffer);
    return Array::adopt(made);
}

Array make_splat(DType dtype, Shape shape, std::uint64_t bits, const Location& location) {
    auto* made = new ArrayNode(dtype, std::move(shape), Device(), location);
    made->splat_ = true;
    made->bits_ = bits;
    made->has_buffer_.store(false, std::memory_order_relaxed);
    return Array::adopt(made);
}

Array make_traced(Ref<Trace> trace, DType dtype, Shape shape, Device device, std::uint32_t id, Array below, const Location& location) {
    auto* made = new ArrayNode(dtype, std::move(shape), device, location);
    made->trace_ = std::move(trace);
    made->id_ = id;
    made->below_ = std::move(below);
    return Array::adopt(made);
}

Ref<runtime::Buffer> take_buffer(const Array& x, bool dying) {
    auto* owner = static_cast<ArrayNode*>(x.handle());
    const Ref<runtime::Buffer>& buffer = owner->buffer();
    // Taken only from the last handle, which is about to go: a splat keeps its value anyway.
    if (dying && !owner->splat_ && owner->references.load(std::memory_order_acquire) == 1) return std::move(owner->buffer_);
    return buffer;
}

void give_buffer_back(const Array& x, Ref<runtime::Buffer> buffer) { static_cast<ArrayNode*>(x.handle())->buffer_ = std::move(buffer); }

NodeCount* make_scalar(DType dtype, std::uint64_t bits, const std::source_location& location) {
    Array made = make_splat(dtype, Shape(), bits, location);
    if (innermost_staging()) made = stage_splat(made, location);
    NodeCount* kept = made.handle();
    kept->references.fetch_add(1, std::memory_order_relaxed);
    return kept;
}

} // namespace stithy::detail
