import { realpathSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeMounts } from "./node-mounts.ts";

const NODE = realpathSync("/proc/self/exe");
const SYSTEM = ["linux-vdso.so.1", "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "/usr/lib/libstdc++.so.6"];

describe("the Node of a sandbox", () => {
  it("is the one that the service runs under, where its libraries are the system's", () => {
    expect(nodeMounts(SYSTEM)).toEqual(["--ro-bind", NODE, "/opt/hlvm/bin/node"]);
  });

  it("finds those of its libraries that lie elsewhere, whatever environment it is started in", () => {
    const mounts = nodeMounts([...SYSTEM, "/home/ada/node/lib/libatomic.so.1", "/home/ada/hlvm/node_modules/a/build.node"]).join(" ");
    expect(mounts).toMatch(/^--ro-bind \/home\/ada\/node\/lib\/libatomic\.so\.1 \/opt\/hlvm\/lib\/libatomic\.so\.1 --ro-bind /);
    expect(mounts).toContain(`--ro-bind ${NODE} /opt/hlvm/lib/node --ro-bind `);
    expect(mounts).toMatch(/\S+\/node-with-libraries\.sh \/opt\/hlvm\/bin\/node$/);
  });
});
