import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { nodeOf } from "./node.mjs";

/** Bundles the programs, unless they are bundled already. Where that fails they are started from their sources. */
export function bundlePrograms(root) {
  // Under a Node that can import the product's modules.
  spawnSync(nodeOf(root), [join(root, "scripts", "bundle-programs.mjs")], { stdio: ["ignore", 2, 2] });
}
