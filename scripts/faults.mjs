// `npm run faults`: what a mesh does while one of its processes is away or frozen for long. Most of the time is waiting, so that
// `npm test` has only the short ones of these.
process.env.HLVM_TESTS = "faults";
await import("./test.mjs");
