#pragma once
#include "array/bind.hpp"

namespace stithy::detail {

/// A recording trace for forward derivatives: each value holds the value and the tangent one level below.
class ForwardTrace final : public Trace {
public:
    explicit ForwardTrace(std::string name) : Trace(Kind::recording, std::move(name)) {}

    Array input(const Array& x, Array tangent, const Location& location);
    Arrays bind(const Operation& operation) override;
    [[nodiscard]] Array below(const Array& x) const;
    /// The tangent one level below; zeros of a value that does not depend on the inputs.
    [[nodiscard]] Array tangent(const Array& x) const;

private:
    Array attach(const Array& below, Array tangent, const Location& location);
    Arrays tangents_;
};

} // namespace stithy::detail
