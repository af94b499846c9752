import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { nodeOf } from "./node.mjs";

/**
 * Bundles the programs, unless they are bundled already. Where that fails they are started from their sources. Of several that do this
 * at once the others wait for the first.
 */
export function bundlePrograms(root) {
  // Under a Node that can import the product's modules.
  const bundling = [nodeOf(root), join(root, "scripts", "bundle-programs.mjs")];
  spawnSync("flock", [join(root, "node_modules"), ...bundling], { stdio: ["ignore", 2, 2] });
}
