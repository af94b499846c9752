import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Of this machine, with what each of them is linked with. */
const PROGRAMS = ["sh", "cat", "ls", "env", "prlimit", "touch"];

/** Makes a bundle as `umoci unpack` would, of a few of this machine's programs, and one that is in no other place. */
export function writeBundle(folder: string, { env, cwd }: { readonly env: readonly string[]; readonly cwd: string }): void {
  const root = join(folder, "rootfs");
  mkdirSync(join(root, "usr", "bin"), { recursive: true });
  symlinkSync("usr/bin", join(root, "bin"));
  for (const name of PROGRAMS) {
    const program = realpathSync(`/usr/bin/${name}`);
    copyFileSync(program, join(root, "usr", "bin", name));
    for (const [library] of execFileSync("ldd", [program], { encoding: "utf8" }).matchAll(/\/[\w./+-]+/g)) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      copyFileSync(library, join(root, library));
    }
  }
  mkdirSync(join(root, "opt"));
  writeFileSync(join(root, "opt", "only-here"), "#!/bin/sh\necho from the image\n");
  chmodSync(join(root, "opt", "only-here"), 0o755);
  mkdirSync(join(root, "etc"));
  symlinkSync("/etc/shadow", join(root, "etc", "passwd"));
  mkdirSync(join(root, "app"));
  writeFileSync(join(root, "app", "hidden"), "");
  symlinkSync("/", join(root, "home"));
  symlinkSync("/", join(root, "workspace"));
  writeFileSync(join(folder, "config.json"), JSON.stringify({ process: { env, cwd } }));
}
