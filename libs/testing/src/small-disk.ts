import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk {
  readonly path: string;
  readonly resize: (mebibytes: number) => void;
  readonly unmount: () => void;
}

/**
 * A disk that is soon full, in memory. Only root can mount one.
 * @param owner a user's name, who alone may use it
 * @returns undefined where it cannot be mounted
 */
export function mountSmallDisk(mebibytes: number, owner: string): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), "hlvm-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m,uid=${owner},mode=0700`, "tmpfs", path], { stdio: "ignore" });
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
  return {
    path,
    resize: (size) => void execFileSync("mount", ["-o", `remount,size=${size}m`, path]),
    unmount: () => {
      execFileSync("umount", ["-l", path]);
      rmSync(path, { recursive: true });
    },
  };
}

/** The user whose process this is. */
export function ownerOf(pid: number): string {
  return execFileSync("stat", ["-c", "%U", `/proc/${pid}`], { encoding: "utf8" }).trim();
}
