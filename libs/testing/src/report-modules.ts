import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";

// With `--import` of this file a process writes the packages that it loads into the file that MODULES_FILE names, as it ends.
const packages = new Set<string>();

registerHooks({
  load(url, context, nextLoad) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    if (name !== undefined) packages.add(name);
    return nextLoad(url, context);
  },
});
process.on("exit", () => writeFileSync(process.env.MODULES_FILE!, [...packages].join("\n")));
