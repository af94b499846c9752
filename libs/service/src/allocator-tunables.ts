/**
 * What the environment says to glibc's malloc for a service in which much is read from sockets; other allocators ignore it.
 * A collection frees thousands of small pieces of memory at once. glibc keeps those of up to 128 bytes in lists of their own (fastbins),
 * and joins all of them to their neighbours at the next large allocation: the read of a socket, which waited 3 to 5 ms for it
 * (`malloc_consolidate`, by perf). Without such lists each is joined when it is freed.
 */
export const ALLOCATOR_TUNABLES = { GLIBC_TUNABLES: "glibc.malloc.mxfast=0" };
