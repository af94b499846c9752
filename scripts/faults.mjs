// `npm run faults`: what a mesh does while one of its processes is away, frozen for long, killed or replaced by another version: the
// short editions of chaos and upgrade too. Most of the time is waiting, so that `npm test` has only the short ones of these.
process.env.HLVM_TESTS = "faults";
await import("./test.mjs");
