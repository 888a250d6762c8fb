#include "array/key.hpp"

#include <cstring>

namespace stithy::detail {

void Key::add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    for (std::size_t i = 0; i < text.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + i, std::min<std::size_t>(8, text.size() - i));
        add(word);
    }
}

namespace {
struct AttrWriter {
    Key& key;
    void operator()(const std::monostate&) const {}
    void operator()(const ir::ConstantAttr& a) const {
        key.add(a.value.type().dtype(), a.value.type().shape(), a.value.is_splat() ? 1 : 0);
        key.add(a.value.bits());
        const auto bytes = a.value.bytes();
        key.add(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    }
    void operator()(const ir::DimAttr& a) const { key.add(a.dim); }
    void operator()(const ir::DimsAttr& a) const { key.add(a.dims); }
    void operator()(const ir::CompareAttr& a) const {
        key.add(static_cast<std::uint64_t>(a.direction) | static_cast<std::uint64_t>(a.kind) << 8);
    }
    void operator()(const ir::SliceAttr& a) const { all({&a.start, &a.limit, &a.stride}); }
    void operator()(const ir::PadAttr& a) const { all({&a.low, &a.high, &a.interior}); }
    void operator()(const ir::DotAttr& a) const { all({&a.lhs_batch, &a.rhs_batch, &a.lhs_contract, &a.rhs_contract}); }
    void operator()(const ir::GatherAttr& a) const {
        all({&a.offset_dims, &a.collapsed_slice_dims, &a.operand_batching_dims, &a.start_indices_batching_dims, &a.start_index_map,
             &a.slice_sizes});
        key.add(a.index_vector_dim);
        key.add(static_cast<std::uint64_t>(a.indices_are_sorted));
    }
    void operator()(const ir::ScatterAttr& a) const {
        all({&a.update_window_dims, &a.inserted_window_dims, &a.input_batching_dims, &a.scatter_indices_batching_dims,
             &a.scatter_dims_to_operand_dims});
        key.add(a.index_vector_dim);
        key.add(static_cast<std::uint64_t>(a.indices_are_sorted) | static_cast<std::uint64_t>(a.unique_indices) << 1);
    }
    void operator()(const ir::WhileAttr& a) const { key.add(a.invariants); }
    void operator()(const ir::LoopAttr& a) const {
        for (std::int64_t n : {a.invariants, a.carries, a.accumulators, a.xs, a.ys, a.length, static_cast<std::int64_t>(a.reverse)})
            key.add(n);
    }
    void operator()(const ir::CallAttr& a) const { key.add(std::string_view(a.name)); }
    void operator()(const ir::CustomCallAttr& a) const {
        key.add(std::string_view(a.target));
        key.add(std::string_view(a.backend_config));
        key.add(a.api_version);
    }
    void all(std::initializer_list<const Dims*> lists) const {
        for (const Dims* dims : lists) key.add(*dims);
    }
};
} // namespace

void Key::add(const ir::Attr& attr) {
    add(static_cast<std::uint64_t>(attr.index()));
    std::visit(AttrWriter{*this}, attr);
}

} // namespace stithy::detail
