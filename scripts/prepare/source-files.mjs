import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileMark } from "../../libs/bundle/src/bundled-main.ts";

/** What says whatever npm has installed, since packages are not looked at file by file, and what bundles. */
const OF_ALL = ["node_modules/.package-lock.json", "scripts/bundle-programs.mjs", "scripts/prepare/source-files.mjs"];

/** What the bundles of one build are made of. */
export class SourceFiles {
  #root;
  /** Of our own files: by their ids, the marks of what is read for each, from before it is read. */
  #marks = new Map();
  #imports = new Map();
  #ofAll;

  constructor(root) {
    this.#root = root;
    this.#ofAll = this.#marksOf(OF_ALL.map((path) => join(root, path)));
  }

  get plugin() {
    const imports = this.#imports;
    return {
      name: "source-files",
      load: (id) => {
        if (id.startsWith(this.#root) && !id.includes("/node_modules/")) this.#marks.set(id, this.#marksOf([id, packageFile(id)]));
      },
      buildEnd() {
        for (const id of this.getModuleIds()) {
          const { importedIds, dynamicallyImportedIds } = this.getModuleInfo(id);
          imports.set(id, [...importedIds, ...dynamicallyImportedIds]);
        }
      },
    };
  }

  /** All that a program may come to load, also where nothing of it is left in the bundle. */
  behind(main) {
    const reached = new Set([main]);
    for (const id of reached) for (const next of this.#imports.get(id) ?? []) reached.add(next);
    return Object.assign({}, this.#ofAll, ...[...reached].map((id) => this.#marks.get(id)));
  }

  #marksOf(files) {
    return Object.fromEntries(files.map((file) => [relative(this.#root, file), fileMark(file)]));
  }
}

/** Which says how other packages find what is in this one. */
function packageFile(file) {
  const candidate = join(dirname(file), "package.json");
  return existsSync(candidate) ? candidate : packageFile(dirname(file));
}
