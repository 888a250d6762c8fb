#include "backend.hpp"
#include "reference/evaluate.hpp"

/// The command with the reference interpreter in the compiler's place: what it says about programs without the machine-code rooms.
namespace {
class ReferenceBackend final : public stithy::tool::Backend {
public:
    std::vector<stithy::ir::Literal> run(const stithy::ir::FunctionPtr& function, std::span<const stithy::ir::Literal> arguments) override {
        return stithy::reference::evaluate(*function, arguments);
    }
};
} // namespace

int main(int count, char** words) {
    ReferenceBackend backend;
    return stithy::tool::run_command(count, words, backend);
}
