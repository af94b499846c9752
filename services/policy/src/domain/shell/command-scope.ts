import { posix } from "node:path";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";

/** Programs whose second word names what they do; the words after that are about what they do it to. */
const NAMING_WORDS: Readonly<Record<string, readonly string[]>> = {
  npm: ["test", "ci", "install", "build"],
  pnpm: ["test", "install", "build"],
  yarn: ["test", "install", "build"],
  git: ["commit", "fetch", "pull", "push", "merge", "switch", "stash", "tag"],
  cargo: ["build", "test", "check", "clippy", "fmt", "run"],
  go: ["build", "test", "vet", "fmt", "run"],
};

/**
 * What "always for this session" covers of an L2 command, one entry for each of its parts. `npm test`, `git commit` and
 * their like cover themselves with any arguments, `npm run NAME` that script, and everything else only itself, word for
 * word: `python -c` with one program says nothing of another. A command that cannot be read literally is one entry.
 * In another folder than the workspace itself it is another command.
 */
export function commandScope(
  command: string,
  parts: readonly (readonly string[])[] | undefined,
  workingDirectory: string,
): readonly string[] {
  const covered = parts === undefined ? [exactly(command)] : [...new Set(parts.map(partScope))];
  const folder = posix.join(workingDirectory, ".");
  return folder === "." ? covered : covered.map((entry) => `${entry} in ${sha256Hex(folder)}`);
}

function partScope(words: readonly string[]): string {
  const [program = "", first = "", second = ""] = words;
  if (program === "npm" && first === "run" && /^[\w:-]+$/.test(second) && !second.startsWith("-")) return `npm run ${second}`;
  const naming = Object.hasOwn(NAMING_WORDS, program) ? NAMING_WORDS[program]! : [];
  return naming.includes(first) ? `${program} ${first}` : exactly(JSON.stringify(words));
}

/** As a hash: what is kept of a command may hold no secret. */
function exactly(text: string): string {
  return `exactly: ${sha256Hex(text)}`;
}
