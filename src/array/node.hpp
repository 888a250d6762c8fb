#pragma once
#include "base/error.hpp"
#include "ir/literal.hpp"
#include "ir/type.hpp"
#include "runtime/allocator.hpp"
#include "runtime/buffer.hpp"
#include "runtime/intrusive.hpp"
#include "stithy/array.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace stithy {
using Arrays = std::vector<Array>;
}

namespace stithy::detail {

class Trace;

/// What an Array points to: a concrete array (a buffer, or a splat that gets its buffer when somebody asks for it) or a value of a trace.
/// Immutable to the outside but for `take_buffer`.
class ArrayNode final : public NodeCount {
public:
    static constexpr std::uint32_t no_id = ~std::uint32_t{0};

    ArrayNode(DType dtype, Shape shape, Device device, const Location& location);
    ~ArrayNode();

    /// From the pool: a call with many results makes as many nodes.
    static void* operator new(std::size_t bytes) { return runtime::allocate_counted(bytes, 0); }
    static void operator delete(void* node, std::size_t bytes) noexcept { runtime::deallocate_counted(node, bytes, 0); }

    [[nodiscard]] DType dtype() const { return dtype_; }
    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] Device device() const { return device_; }
    [[nodiscard]] ir::Type type() const { return {dtype_, shape_}; }
    /// Where the user's code made it; line 0 when unknown.
    [[nodiscard]] const Location& location() const { return location_; }

    [[nodiscard]] bool traced() const { return trace_ != nullptr; }
    /// Of a concrete array; null for a traced one. A splat's is made and filled at the first request.
    [[nodiscard]] const Ref<runtime::Buffer>& buffer() const {
        if (!has_buffer_.load(std::memory_order_acquire)) [[unlikely]]
            fill_buffer();
        return buffer_;
    }
    /// True for a concrete array whose elements are all equal and known without reading (zeros, full, a number): traces take it as a
    /// constant operation.
    [[nodiscard]] bool is_splat() const { return splat_; }
    [[nodiscard]] std::uint64_t splat_bits() const { return bits_; }
    [[nodiscard]] ir::Literal splat_literal() const { return ir::Literal::splat_bits(type(), bits_); }
    /// The trace that the value belongs to, which may have ended; null for a concrete array.
    [[nodiscard]] Trace* trace() const { return trace_.get(); }
    /// The value's number, in whatever sense its trace gives to it.
    [[nodiscard]] std::uint32_t id() const { return id_; }
    /// The value one level below, of a recording trace; undefined for a staged one.
    [[nodiscard]] const Array& below() const { return below_; }

private:
    void fill_buffer() const;
    friend Array make_splat(DType, Shape, std::uint64_t, const Location&);
    friend Array make_concrete(DType, Shape, Ref<runtime::Buffer>, const Location&, Device);
    friend Array make_traced(Ref<Trace>, DType, Shape, Device, std::uint32_t, Array, const Location&);
    friend Ref<runtime::Buffer> take_buffer(const Array&, bool);
    friend void give_buffer_back(const Array&, Ref<runtime::Buffer>);

    DType dtype_;
    Device device_;
    bool splat_ = false;
    mutable std::atomic<bool> has_buffer_{true}; // false only for a splat without one
    std::uint32_t id_ = no_id;
    std::uint64_t bits_ = 0;
    Shape shape_;
    mutable Ref<runtime::Buffer> buffer_;
    Ref<Trace> trace_;
    Array below_;
    Location location_;
};

/// The node of a defined array; Error (for `operation`) for a default-made one.
const ArrayNode& node_of(const Array& x, const char* operation = "array", const Location& location = Location());
/// The same where the caller knows that it is defined.
inline const ArrayNode& node(const Array& x) { return *static_cast<const ArrayNode*>(x.handle()); }

/// An array over a buffer of dtype's size times the elements of shape.
Array make_concrete(DType dtype, Shape shape, Ref<runtime::Buffer> buffer, const Location& location = Location(), Device device = Device());
/// A concrete array whose elements all have the bits of one; takes no memory until it is read.
Array make_splat(DType dtype, Shape shape, std::uint64_t bits, const Location& location = Location());
/// A value of a trace: `id` as the trace likes; `below` is the value one level below, for recording traces.
Array make_traced(Ref<Trace> trace, DType dtype, Shape shape, Device device, std::uint32_t id, Array below, const Location& location);
/// The buffer of a concrete array; when `dying` and this is the only handle, the array is left without it, so that the buffer may be
/// unique.
Ref<runtime::Buffer> take_buffer(const Array& x, bool dying);
/// Undoes `take_buffer` of a dying array.
void give_buffer_back(const Array& x, Ref<runtime::Buffer> buffer);

/// The concrete array under recorded values. Error that names `operation` when the value is staged (it has no number yet) or its trace has
/// ended.
const Array& bottom(const Array& x, const char* operation, const Location& location);

} // namespace stithy::detail
