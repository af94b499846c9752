import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join, posix } from "node:path";

const ENTRY = "main.ts";
/** The forms that the runner's modules keep to, one statement from the start of its line. */
const IMPORT = /^import \{([^}]*)\} from "([^"]+)";/gm;
const EXPORT = /^export (?=(?:async )?(?:function\*?|class|const) (\w+))/gm;
const UNKNOWN_FORM = /^(?:import|export)\b.*/m;

/**
 * Writes the runner as one plain JavaScript file. Each of its modules that Node has to find and read costs every session's
 * first call, and types that Node has to strip there cost twice the time and 30 MB.
 * @throws Error where a module imports or exports in another form, or modules import each other in a circle
 */
export function prepareRunner(source: string, destination: string): void {
  const scripts = ['"use strict";', "const modules = {};"];
  const begun = new Set<string>();
  const done = new Set<string>();

  function add(path: string): void {
    if (done.has(path)) return;
    if (begun.has(path)) throw new Error(`the runner's ${path} imports itself by way of others`);
    begun.add(path);
    scripts.push(toScript(path));
    done.add(path);
  }

  function toScript(path: string): string {
    const exported: string[] = [];
    const script = stripTypeScriptTypes(readFileSync(join(source, path), "utf8"))
      .replace(IMPORT, (_, names: string, from: string) => {
        const bindings = `const {${names.replaceAll(" as ", ": ")}} =`;
        if (!from.startsWith(".")) return `${bindings} require(${JSON.stringify(from)});`;
        const imported = posix.join(posix.dirname(path), from);
        add(imported);
        return `${bindings} modules[${JSON.stringify(imported)}];`;
      })
      .replace(EXPORT, (_, name: string) => {
        exported.push(name);
        return "";
      });
    const unknown = UNKNOWN_FORM.exec(script)?.[0];
    if (unknown !== undefined) throw new Error(`the runner's ${path} has a statement that cannot be joined: ${unknown}`);
    return `modules[${JSON.stringify(path)}] = (() => {\n${script}\nreturn { ${exported.join(", ")} };\n})();`;
  }

  add(ENTRY);
  // A runner that is up keeps the file that it was started with.
  rmSync(destination, { force: true });
  writeFileSync(destination, scripts.join("\n"));
}
