// No silent conversion to a truth value: it would wait for the value.
// expect: cannot convert|no viable conversion
#include <stithy/stithy.hpp>

int main() {
    stithy::Array a = stithy::zeros({});
    bool c = a;
}
