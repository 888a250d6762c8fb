#include "ir/text/build.hpp"

#include <limits>

namespace stithy::ir::text {

Dims integers_of(const Attribute& attribute, const Reader& reader) {
    Dims dims;
    if (attribute.kind == Attribute::list) {
        for (const Attribute& item : attribute.items) {
            if (item.kind != Attribute::integer) reader.fail("expected a list of integers", attribute.at);
            dims.push_back(item.number);
        }
    } else if (attribute.kind == Attribute::dense && attribute.literal.type().dtype().is_integer()) {
        if (attribute.literal.type().elements() > 1000) reader.fail("list too long", attribute.at);
        for (std::int64_t i = 0; i < attribute.literal.type().elements(); ++i) dims.push_back(attribute.literal.element_as_int(i));
    } else {
        reader.fail("expected a list of integers", attribute.at);
    }
    return dims;
}

namespace {
/// Looks up the attributes of one operation under their generic and pretty names.
class Attributes {
public:
    Attributes(const SyntaxOp& op, const Reader& reader) : op_(op), reader_(reader) {}

    [[nodiscard]] const Attribute* find(std::string_view key, std::string_view other = "") const {
        const Attribute* a = op_.find(key);
        return a == nullptr && !other.empty() ? op_.find(other) : a;
    }
    [[nodiscard]] const Attribute& need(std::string_view key, std::string_view other = "") const {
        const Attribute* a = find(key, other);
        if (a == nullptr) reader_.fail(op_.name + " without " + std::string(key), op_.at);
        return *a;
    }
    [[nodiscard]] Dims dims(std::string_view key, std::string_view other = "") const { return integers_of(need(key, other), reader_); }
    [[nodiscard]] Dims dims_or(std::string_view key, const Dims& otherwise) const {
        const Attribute* a = find(key);
        return a == nullptr ? otherwise : integers_of(*a, reader_);
    }
    [[nodiscard]] std::int64_t integer(std::string_view key, std::string_view other = "") const {
        const Attribute& a = need(key, other);
        if (a.kind != Attribute::integer) reader_.fail("expected an integer", a.at);
        return a.number;
    }
    [[nodiscard]] bool flag(std::string_view key) const {
        const Attribute* a = find(key);
        return a != nullptr && (a->kind == Attribute::unit || a->number != 0);
    }
    /// The structure attribute `#stablehlo.name<...>`.
    [[nodiscard]] Attributes structure(std::string_view key) const {
        const Attribute& a = need(key);
        if (a.kind != Attribute::fields) reader_.fail("expected #stablehlo." + std::string(key) + "<...>", a.at);
        return {a, op_, reader_};
    }
    /// A list in a structure; absent means empty.
    [[nodiscard]] Dims part(std::string_view key) const {
        const Attribute* a = fields_->find(key);
        return a == nullptr ? Dims() : integers_of(*a, reader_);
    }
    [[nodiscard]] std::int64_t number_part(std::string_view key) const {
        const Attribute* a = fields_->find(key);
        return a == nullptr ? 0 : a->number;
    }
    [[nodiscard]] const Reader& reader() const { return reader_; }
    [[nodiscard]] const SyntaxOp& op() const { return op_; }

private:
    Attributes(const Attribute& fields, const SyntaxOp& op, const Reader& reader) : op_(op), reader_(reader), fields_(&fields) {}
    const SyntaxOp& op_;
    const Reader& reader_;
    const Attribute* fields_ = nullptr;
};

AttrPtr compare_attribute(const Attributes& a) {
    static constexpr std::pair<std::string_view, Direction> directions[] = {{"EQ", Direction::eq}, {"NE", Direction::ne},
                                                                            {"GE", Direction::ge}, {"GT", Direction::gt},
                                                                            {"LE", Direction::le}, {"LT", Direction::lt}};
    CompareAttr compare;
    const Attribute& direction = a.need("comparison_direction");
    bool known = false;
    for (auto [name, d] : directions)
        if (direction.text == name) {
            compare.direction = d;
            known = true;
        }
    if (!known) a.reader().fail("unknown direction of comparison '" + direction.text + "'", a.op().at);
    const Attribute* kind = a.find("compare_type");
    if (kind != nullptr && kind->text == "TOTALORDER") compare.kind = CompareKind::total_order;
    return make_attr(compare);
}

/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`, or #stablehlo.dot<...>.
AttrPtr dot_attribute(const Attributes& a) {
    DotAttr dot;
    if (a.find("dot_dimension_numbers") != nullptr) {
        const Attributes s = a.structure("dot_dimension_numbers");
        dot.lhs_batch = s.part("lhs_batching_dimensions");
        dot.rhs_batch = s.part("rhs_batching_dimensions");
        dot.lhs_contract = s.part("lhs_contracting_dimensions");
        dot.rhs_contract = s.part("rhs_contracting_dimensions");
        return make_attr(dot);
    }
    auto pair = [&](std::string_view key, Dims& lhs, Dims& rhs) {
        const Attribute* p = a.find(key);
        if (p == nullptr) return;
        if (p->items.size() != 2) a.reader().fail("expected [..] x [..]", p->at);
        lhs = integers_of(p->items[0], a.reader());
        rhs = integers_of(p->items[1], a.reader());
    };
    pair("batching_dims", dot.lhs_batch, dot.rhs_batch);
    pair("contracting_dims", dot.lhs_contract, dot.rhs_contract);
    return make_attr(dot);
}

AttrPtr gather_attribute(const Attributes& a) {
    const Attributes s = a.structure("dimension_numbers");
    GatherAttr g;
    g.offset_dims = s.part("offset_dims");
    g.collapsed_slice_dims = s.part("collapsed_slice_dims");
    g.operand_batching_dims = s.part("operand_batching_dims");
    g.start_indices_batching_dims = s.part("start_indices_batching_dims");
    g.start_index_map = s.part("start_index_map");
    g.index_vector_dim = s.number_part("index_vector_dim");
    g.slice_sizes = a.dims("slice_sizes");
    g.indices_are_sorted = a.flag("indices_are_sorted");
    return make_attr(g);
}

AttrPtr scatter_attribute(const Attributes& a) {
    const Attributes s = a.structure("scatter_dimension_numbers");
    ScatterAttr c;
    c.update_window_dims = s.part("update_window_dims");
    c.inserted_window_dims = s.part("inserted_window_dims");
    c.input_batching_dims = s.part("input_batching_dims");
    c.scatter_indices_batching_dims = s.part("scatter_indices_batching_dims");
    c.scatter_dims_to_operand_dims = s.part("scatter_dims_to_operand_dims");
    c.index_vector_dim = s.number_part("index_vector_dim");
    c.indices_are_sorted = a.flag("indices_are_sorted");
    c.unique_indices = a.flag("unique_indices");
    return make_attr(c);
}

AttrPtr slice_attribute(const Attributes& a) {
    SliceAttr s{a.dims("start_indices"), a.dims("limit_indices"), {}};
    s.stride = a.dims_or("strides", Dims(s.start.size(), 1));
    return make_attr(s);
}

AttrPtr pad_attribute(const Attributes& a) {
    PadAttr p{a.dims("edge_padding_low", "low"), a.dims("edge_padding_high", "high"), {}};
    const Attribute* interior = a.find("interior_padding", "interior");
    p.interior = interior == nullptr ? Dims(p.low.size(), 0) : integers_of(*interior, a.reader());
    return make_attr(p);
}

AttrPtr custom_call_attribute(const Attributes& a) {
    CustomCallAttr c;
    c.target = a.need("call_target_name").text;
    const Attribute* config = a.find("backend_config");
    if (config == nullptr || config->raw == "\"\"") config = a.find("mhlo.backend_config");
    if (config != nullptr) c.backend_config = config->raw;
    if (const Attribute* version = a.find("api_version")) c.api_version = version->number;
    return make_attr(std::move(c));
}

AttrPtr loop_attribute(const Attributes& a) {
    LoopAttr loop{a.integer("invariants"), a.integer("carries"),     a.integer("accumulators"), a.integer("xs"), 0,
                  a.integer("length"),     a.integer("reverse") != 0};
    loop.ys = static_cast<std::int64_t>(a.op().result_types.size()) - loop.carries - loop.accumulators;
    if (loop.ys < 0) a.reader().fail("a loop gives at least its carries and accumulators", a.op().at);
    return make_attr(loop);
}

AttrPtr constant_attribute(const Attributes& a) {
    const Attribute& value = a.need("value");
    if (value.kind != Attribute::dense) a.reader().fail("expected dense<...> : TYPE", value.at);
    return make_attr(ConstantAttr{value.literal});
}
} // namespace

AttrPtr attribute_of(OpCode code, const SyntaxOp& op, const Reader& reader) {
    const Attributes a(op, reader);
    switch (code) {
    case OpCode::constant: return constant_attribute(a);
    case OpCode::compare: return compare_attribute(a);
    case OpCode::iota: return make_attr(DimAttr{a.integer("iota_dimension", "dim")});
    case OpCode::concatenate: return make_attr(DimAttr{a.integer("dimension", "dim")});
    case OpCode::get_tuple_element: return make_attr(DimAttr{a.integer("index")});
    case OpCode::broadcast_in_dim: return make_attr(DimsAttr{a.dims("broadcast_dimensions", "dims")});
    case OpCode::transpose: return make_attr(DimsAttr{a.dims("permutation", "dims")});
    case OpCode::reverse: return make_attr(DimsAttr{a.dims("dimensions", "dims")});
    case OpCode::dynamic_slice: return make_attr(DimsAttr{a.dims("slice_sizes", "sizes")});
    case OpCode::reduce: return make_attr(DimsAttr{a.dims("dimensions")});
    case OpCode::slice: return slice_attribute(a);
    case OpCode::pad: return pad_attribute(a);
    case OpCode::dot_general: return dot_attribute(a);
    case OpCode::gather: return gather_attribute(a);
    case OpCode::scatter:
    case OpCode::accumulator_scatter_add: return scatter_attribute(a);
    case OpCode::custom_call: return custom_call_attribute(a);
    case OpCode::loop: return loop_attribute(a);
    default: return nullptr;
    }
}

} // namespace stithy::ir::text
