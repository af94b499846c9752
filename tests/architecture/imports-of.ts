import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./workspace-packages.ts";

const IMPORT = /(?:^|[\s;])(?:import|export)\s(?:[^"';]*?\sfrom\s*)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g;
const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** What a TypeScript file imports, statically or not, as it is written there. */
export function importsOf(path: string): string[] {
  const source = readFileSync(join(repositoryRoot, path), "utf8").replace(COMMENTS, "");
  return [...source.matchAll(IMPORT)].map((match) => (match[1] ?? match[2])!);
}
