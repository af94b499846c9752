// Loaded into the Node that scripts/prepare/node.mjs gave a libatomic.so.1 of its own: what that Node starts must neither
// see the path it was found by, nor need it to start that Node again.
const { resolve } = require("node:path");
const { isMainThread } = require("node:worker_threads");

// It is loaded into every worker too, which has what the main thread left of the environment.
if (isMainThread) {
  const [, ...others] = process.env.LD_LIBRARY_PATH.split(":");
  if (others.length === 0) delete process.env.LD_LIBRARY_PATH;
  else process.env.LD_LIBRARY_PATH = others.join(":");
}
process.execPath = resolve(__dirname, "..", "..", "node_modules", ".bin", "node");
