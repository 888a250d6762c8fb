#pragma once
#include "backend.hpp"
#include "cpu/executable.hpp"

namespace stithy::tool {

/// Compiles and runs on the CPU.
class CompiledBackend final : public Backend {
public:
    std::vector<ir::Literal> run(const ir::FunctionPtr& function, std::span<const ir::Literal> arguments) override;

private:
    ir::FunctionPtr last_function_; ///< compiled last: the forward gradient calls one function many times
    Ref<cpu::Executable> last_;
};

} // namespace stithy::tool
