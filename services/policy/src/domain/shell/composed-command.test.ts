import { describe, expect, it } from "vitest";
import { useCommandJudge } from "../../testing/use-command-judge.ts";

const { judge, levelOf, notAt } = useCommandJudge();

describe("attacks on the classification", () => {
  it("6: every part is judged", () => {
    const joints = [" && ", " ; ", ";", " | ", " || ", " & ", " |& ", "\n", "&&", "|", "&"];
    for (const joint of joints) expect(judge(`echo ok${joint}rm x`)).toMatchObject({ level: "L2", destructive: "rm" });
    for (const joint of joints) expect(levelOf(`npm test${joint}echo ok`)).toBe("L2");
  });
  it("7: 5,000 harmless parts before a forbidden one", () => {
    expect(levelOf(Array.from({ length: 5_000 }, () => "ls").join(";"))).toBe("L0");
    expect(judge(`${"ls;".repeat(5_000)}rm -rf /`)).toMatchObject({ level: "L2", danger: { decision: "deny" } });
  });
  it("10: variables that load code", () => {
    expect(
      notAt("L2", ["LD_PRELOAD=x ls", "NODE_OPTIONS=--require=x node --version", "GIT_SSH_COMMAND=x git status", "env LD_PRELOAD=x ls"]),
    ).toEqual([]);
  });
  it("11: what a wrapper runs is judged", () => {
    expect(notAt("L0", ["env ls", "timeout 5 ls", "timeout 1.5s git status", "nice cat a", "nice -n 5 ls"])).toEqual([]);
    expect(
      notAt("L2", [
        "env sh",
        "sudo ls",
        "watch ls",
        "setsid ls",
        "xargs cat",
        "ls | xargs rm",
        "timeout 5 npm test",
        "timeout -s 9 5 ls",
        "env -i ls",
        "env -S 'ls x'",
      ]),
    ).toEqual([]);
    for (const wrapper of ["env", "sudo", "sudo -u root", "watch", "setsid", "xargs -n 1", "timeout 5", "nohup", "bash -c", "sh -ec"])
      expect(judge(`${wrapper} 'rm' -rf /`).danger ?? judge(`${wrapper} 'rm -rf /'`).danger).toMatchObject({ decision: "deny" });
  });
  it("17: names given a new meaning", () => {
    expect(
      notAt("L2", [
        "alias ls=rm",
        "ls(){ rm x; }; ls",
        "trap id EXIT",
        "eval ls",
        "source x",
        ". x",
        "function ls { id; }",
        "exec ls",
        "builtin eval ls",
        "hash -p /x ls",
      ]),
    ).toEqual([]);
  });
  it("19: interpreters and builds are never L1", () => {
    expect(
      notAt("L2", [
        "bash -c ls",
        "python -c 'print(1)'",
        "npm test",
        "make",
        "node x.js",
        "npx tsc",
        "sh x",
        "perl -e 1",
        "./run",
        "/bin/ls",
        "npm --version x",
      ]),
    ).toEqual([]);
  });
});
