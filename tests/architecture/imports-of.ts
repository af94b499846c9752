import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./workspace-packages.ts";

const IMPORT = /(?:^|[\s;])(?:import|export)\s(?:[^"';]*?\sfrom\s*)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g;
/** What is loaded with the file: no types, and nothing that is imported when it is needed. */
const LOADED = /(?:^|[\s;])(?:import|export)\s(?!type\s)(?:[^"';()]*?\sfrom\s*)?["']([^"']+)["']/g;
const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** What a TypeScript file imports, statically or not, as it is written there. */
export function importsOf(path: string): string[] {
  return [...sourceOf(path).matchAll(IMPORT)].map((match) => (match[1] ?? match[2])!);
}

/**
 * What is loaded before the first line of a file runs.
 * @param resolve the file behind a specifier; undefined where it is none of the repository
 * @returns the repository's files, and the specifiers of everything else
 */
export function loadedBy(entry: string, resolve: (specifier: string, from: string) => string | undefined): Set<string> {
  const loaded = new Set([entry]);
  for (const path of loaded) {
    if (!path.endsWith(".ts")) continue;
    for (const [, specifier] of sourceOf(path).matchAll(LOADED)) loaded.add(resolve(specifier!, path) ?? specifier!);
  }
  return loaded;
}

function sourceOf(path: string): string {
  return readFileSync(join(repositoryRoot, path), "utf8").replace(COMMENTS, "");
}
