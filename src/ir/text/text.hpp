#pragma once
#include "ir/function.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

/// StableHLO text, in and out.
namespace stithy::ir {

/// The text is well formed but names an operation or a type that is not there.
class NotSupported : public Error {
public:
    NotSupported(const std::string& text, std::string thing) : Error(text), thing_(std::move(thing)) {}
    /// What is missing: "stablehlo.sort", "type bf16".
    [[nodiscard]] const std::string& thing() const { return thing_; }

private:
    std::string thing_;
};

/// Functions by name.
struct Module {
    std::string name;
    std::map<std::string, FunctionPtr, std::less<>> functions;
    std::vector<std::string> public_names; ///< in the order of the text

    /// The function to run: `main`, or the only public one. Throws Error when there is neither.
    [[nodiscard]] const FunctionPtr& main() const;
};

/// Looks at each operation before it is appended, with its operands' and results' types; what it throws gets the operation's line and
/// column (ops/check.hpp).
using CheckOp = std::function<void(const Op&, std::span<const Type> operands, std::span<const Type> results)>;

/// Reads a module (or bare functions). Regions become closed functions: what they use from outside becomes an operand, in the order of the
/// first use, and their first parameters; reducers get a copy of outside constants. Calls share their callee. Annotations (shardings,
/// layouts, locations) are skipped. Throws Error("file:line:column: what is wrong"), NotSupported for what is missing.
Module parse(std::string_view text, std::string_view file_name, const CheckOp& check = nullptr);

/// A module with `function` as its public function and the callees of its calls as private ones. It parses back to an equal function
/// (ir/equal.hpp), but for linear marks of the regions of while, case and if, and outside values passed to them twice.
std::string print(const Function& function);
/// A module of that name; the functions given are public.
std::string print_module(std::string_view name, std::span<const FunctionPtr> functions);

} // namespace stithy::ir
