// `&&` cannot work elementwise and stop early; `&` does the former.
// expect: use of deleted function|overload resolution selected deleted operator
#include <stithy/stithy.hpp>

int main() {
    stithy::Array a = stithy::zeros({3}), b = a;
    auto c = a && b;
}
