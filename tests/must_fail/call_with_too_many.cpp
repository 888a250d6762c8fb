// A jitted function takes what the function takes.
// expect first: deleted (member )?function
#include <stithy/stithy.hpp>

int main() {
    const stithy::Array x = stithy::zeros({3});
    static_cast<void>(stithy::jit([](stithy::Array a) { return a; })(x, x));
}
