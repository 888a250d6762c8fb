#include "ir/type.hpp"

namespace stithy::ir {

Type Type::token() {
    Type t;
    t.kind_ = TypeKind::token;
    return t;
}

Type Type::tuple(std::vector<Type> elements) {
    Type t;
    t.kind_ = TypeKind::tuple;
    t.members_ = std::make_shared<const std::vector<Type>>(std::move(elements));
    return t;
}

Type Type::accumulator(DType dtype, Shape shape) {
    Type t(dtype, std::move(shape));
    t.kind_ = TypeKind::accumulator;
    return t;
}

Type Type::stack(std::vector<Type> elements) {
    Type t = tuple(std::move(elements));
    t.kind_ = TypeKind::stack;
    return t;
}

const std::vector<Type>& Type::members() const {
    internal_check(members_ != nullptr, "members of a type that has none");
    return *members_;
}

std::string Type::str() const {
    switch (kind_) {
    case TypeKind::tensor: return std::string(dtype_.name()) + shape_.str();
    case TypeKind::accumulator: return "accumulator " + std::string(dtype_.name()) + shape_.str();
    case TypeKind::token: return "token";
    case TypeKind::tuple:
    case TypeKind::stack: break;
    }
    std::string text = kind_ == TypeKind::tuple ? "tuple<" : "stack<";
    for (std::size_t i = 0; i < members().size(); ++i) text += (i ? ", " : "") + members()[i].str();
    return text + ">";
}

namespace {
std::string element_text(DType dtype) {
    if (dtype.is_bool()) return "i1";
    if (dtype.is_unsigned()) return "u" + std::string("i") + std::to_string(dtype.bits());
    return std::string(dtype.name());
}
std::string shaped_text(const Type& t) {
    std::string text;
    for (std::int64_t e : t.shape()) text += std::to_string(e) + "x";
    return text + element_text(t.dtype());
}
} // namespace

std::string Type::text() const {
    switch (kind_) {
    case TypeKind::tensor: return "tensor<" + shaped_text(*this) + ">";
    case TypeKind::accumulator: return "!stithy.accumulator<" + shaped_text(*this) + ">";
    case TypeKind::token: return "!stablehlo.token";
    case TypeKind::tuple:
    case TypeKind::stack: break;
    }
    std::string text = kind_ == TypeKind::tuple ? "tuple<" : "!stithy.stack<";
    for (std::size_t i = 0; i < members().size(); ++i) text += (i ? ", " : "") + members()[i].text();
    return text + ">";
}

bool operator==(const Type& a, const Type& b) {
    if (a.kind_ != b.kind_) return false;
    switch (a.kind_) {
    case TypeKind::token: return true;
    case TypeKind::tuple:
    case TypeKind::stack: return a.members() == b.members();
    case TypeKind::tensor:
    case TypeKind::accumulator: break;
    }
    return a.dtype_ == b.dtype_ && a.shape_ == b.shape_;
}

} // namespace stithy::ir
