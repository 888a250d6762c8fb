#include "array/key.hpp"

#include <cstring>
#include <unordered_map>
#include <vector>

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

void add_type(Key& key, const ir::Type& type) {
    key.add(type.dtype(), type.shape(), static_cast<std::uint64_t>(type.kind()));
    if (type.kind() != ir::TypeKind::tuple && type.kind() != ir::TypeKind::stack) return;
    key.add(static_cast<std::uint64_t>(type.members().size()));
    for (const ir::Type& member : type.members()) add_type(key, member); // as deep as the type is written
}

void add_op(Key& key, const ir::Function& function, const ir::Op& op) {
    key.add(static_cast<std::uint64_t>(op.code) | static_cast<std::uint64_t>(op.effect) << 8 |
            static_cast<std::uint64_t>(op.result_count) << 16 | static_cast<std::uint64_t>(op.operands.size()) << 40);
    for (ir::ValueId v : op.operands) key.add(static_cast<std::uint64_t>(v));
    for (std::uint32_t r = 0; r < op.result_count; ++r) add_type(key, function.type(op.result(r)));
    if (op.attr) key.add(*op.attr);
    // the text of a location lives as long as the program
    key.add(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(op.location.file_name())));
    key.add(static_cast<std::uint64_t>(op.location.line()));
}
} // namespace

void Key::add(const ir::Function& function) {
    std::vector<const ir::Function*> order{&function}; // each function once: others name its place
    std::unordered_map<const ir::Function*, std::uint64_t> places{{&function, 0}};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const ir::Function& f = *order[i];
        add(static_cast<std::uint64_t>(f.parameter_count()));
        add(static_cast<std::uint64_t>(f.ops().size()));
        for (std::size_t p = 0; p < f.parameter_count(); ++p) {
            add(static_cast<std::uint64_t>(f.is_linear(p)));
            add_type(*this, f.type(static_cast<ir::ValueId>(p)));
        }
        for (const ir::Op& op : f.ops()) {
            add_op(*this, f, op);
            for (const ir::FunctionPtr& region : op.regions) {
                const auto [at, fresh] = places.emplace(region.get(), order.size());
                if (fresh) order.push_back(region.get());
                add(at->second);
            }
        }
        for (ir::ValueId v : f.results()) add(static_cast<std::uint64_t>(v));
    }
}

void Key::add(const ir::Attr& attr) {
    add(static_cast<std::uint64_t>(attr.index()));
    std::visit(AttrWriter{*this}, attr);
}

} // namespace stithy::detail
