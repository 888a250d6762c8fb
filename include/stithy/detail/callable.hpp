#pragma once
#include <cstddef>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

/// Objects that are called with trees (jitted, differentiated, batched functions) and take the line of the call along.
namespace stithy::detail {

/// True for a line of the standard library's headers, from where std::function and std::apply call.
bool is_standard_header(const std::source_location& location) noexcept;

struct CallableTag {};

/// The call operators of `Self`, which has `call(location, args...)` and says by `accepts<A...>` what it can be called with.
template <class Self>
class Callable : public CallableTag {
public:
    explicit Callable(const std::source_location& made) : made_(made) {}

    auto operator()(std::source_location at = std::source_location::current()) const
        requires(Self::template accepts<>)
    {
        return self().call(line(at));
    }
    template <class A>
        requires(Self::template accepts<A>)
    auto operator()(A&& a, std::source_location at = std::source_location::current()) const {
        return self().call(line(at), std::forward<A>(a));
    }
    template <class A, class B>
        requires(Self::template accepts<A, B>)
    auto operator()(A&& a, B&& b, std::source_location at = std::source_location::current()) const {
        return self().call(line(at), std::forward<A>(a), std::forward<B>(b));
    }
    template <class A, class B, class C>
        requires(Self::template accepts<A, B, C>)
    auto operator()(A&& a, B&& b, C&& c, std::source_location at = std::source_location::current()) const {
        return self().call(line(at), std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
    }
    template <class A, class B, class C, class D>
        requires(Self::template accepts<A, B, C, D>)
    auto operator()(A&& a, B&& b, C&& c, D&& d, std::source_location at = std::source_location::current()) const {
        return self().call(line(at), std::forward<A>(a), std::forward<B>(b), std::forward<C>(c), std::forward<D>(d));
    }
    /// More arguments: errors cite the line where the object was made.
    template <class... A>
        requires(sizeof...(A) > 4 && Self::template accepts<A...>)
    auto operator()(A&&... a) const {
        return self().call(made_, std::forward<A>(a)...);
    }
    /// The function cannot be called with these arguments.
    template <class... A>
        requires(!Self::template accepts<A...>)
    void operator()(A&&... a) const = delete;

protected:
    [[nodiscard]] const std::source_location& made() const { return made_; }

private:
    [[nodiscard]] const Self& self() const { return static_cast<const Self&>(*this); }
    [[nodiscard]] const std::source_location& line(const std::source_location& at) const { return is_standard_header(at) ? made_ : at; }
    std::source_location made_;
};

/// f(elements of the tuple...); objects of ours are told the line.
template <class F, class Tuple>
decltype(auto) apply_at(const std::source_location& at, F& f, Tuple&& tuple) {
    if constexpr (std::is_base_of_v<CallableTag, F>)
        return std::apply([&](auto&&... a) -> decltype(auto) { return f.call(at, std::forward<decltype(a)>(a)...); },
                          std::forward<Tuple>(tuple));
    else
        return std::apply(f, std::forward<Tuple>(tuple));
}

} // namespace stithy::detail
