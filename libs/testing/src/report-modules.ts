import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";

// With `--import` of this file a process writes what it loads into the file that MODULES_FILE names, as it ends: the names of packages,
// and the URLs of modules in none of them.
const loaded = new Set<string>();

registerHooks({
  load(url, context, nextLoad) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    loaded.add(name ?? url);
    return nextLoad(url, context);
  },
});
process.on("exit", () => writeFileSync(process.env.MODULES_FILE!, [...loaded].join("\n")));
