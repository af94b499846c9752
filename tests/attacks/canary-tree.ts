import { chmodSync, linkSync, mkdirSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { git, type AttackMesh } from "./attack-mesh.ts";

const LONG_AGO = new Date("2001-02-03T04:05:06Z");

/** A repository with everything that a command could change: contents, modes, times, links of both kinds, names. */
export function createCanaryTree(mesh: AttackMesh): string {
  const tree = mesh.repository({
    "a.txt": "main.ts\nsub/b.txt\n",
    "main.ts": "export const a = 1;\n",
    "sub/b.txt": "b\na\n",
    "data.json": '{"a": [1, 2]}\n',
    empty: "",
    "run.sh": "touch ran\n",
    ".hidden": "hidden\n",
    ".gitattributes": "*.bin binary\n",
  });
  chmodSync(join(tree, "run.sh"), 0o755);
  chmodSync(join(tree, ".hidden"), 0o600);
  mkdirSync(join(tree, "bare"));
  symlinkSync("main.ts", join(tree, "link"));
  symlinkSync("/etc", join(tree, "outside"));
  symlinkSync("nowhere", join(tree, "dangling"));
  linkSync(join(tree, "a.txt"), join(tree, "hard"));
  for (const name of ["a.txt", "main.ts", "sub/b.txt", "sub", "data.json", "empty", "run.sh", ".hidden", "bare"])
    utimesSync(join(tree, name), LONG_AGO, LONG_AGO);
  mesh.commit(tree);
  git(tree, "status");
  return tree;
}
