import { expect, it } from "vitest";
import { ProcessTree, type Process } from "./process-tree.ts";

const ROOT: Process = { pid: 10, parent: 1, beganAt: "100", state: "S", command: "supervisor" };
const SERVICE: Process = { pid: 20, parent: 10, beganAt: "110", state: "S", command: "edge" };
const LEFT: Process = { pid: 30, parent: 20, beganAt: "120", state: "S", command: "bwrap" };

it("a process whose parent ended is found among those that live", () => {
  let all = [ROOT, SERVICE, LEFT];
  const tree = new ProcessTree(ROOT.pid, () => all);
  tree.look();
  all = [{ ...LEFT, parent: 1 }];
  tree.look();
  expect(tree.living()).toEqual(["30 (bwrap)"]);
});

it("a process of somebody else that has the number of one that ended is not taken for it, nor are those below it", () => {
  let all = [ROOT, SERVICE];
  const tree = new ProcessTree(ROOT.pid, () => all);
  tree.look();
  all = [ROOT, { pid: SERVICE.pid, parent: 2, beganAt: "900", state: "I", command: "kworker/1:1" }, { ...LEFT, beganAt: "910" }];
  tree.look();
  expect(tree.living()).toEqual(["10 (supervisor)"]);
});
