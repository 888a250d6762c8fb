#pragma once

namespace stithy::tool {

/// Prints what the library finds on this machine: processor, threads, compiler, libraries, caches. 0 when everything needed is there,
/// else 1.
int doctor();

} // namespace stithy::tool
