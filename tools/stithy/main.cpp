#include "compiled_backend.hpp"

int main(int count, char** words) {
    stithy::tool::CompiledBackend backend;
    return stithy::tool::run_command(count, words, backend);
}
