// Only what is given can be differentiated by.
// expect first: fewer arguments
#include <stithy/stithy.hpp>

int main() {
    const stithy::Array x = stithy::zeros({3});
    static_cast<void>(stithy::grad<1>([](stithy::Array a) { return stithy::sum(a); })(x));
}
