import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findNativeTool } from "@hlvm/tools/native-tools";
import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import type { CallJudgement } from "../judge/call-judgement.ts";
import { decide } from "./decide.ts";
import type { PermissionMode, PermissionSettings } from "./decision.ts";
import type { Question, SessionAllowance } from "./question.ts";

const MODES = ["default", "plan", "acceptEdits", "bypassPermissions", "dontAsk"] as const satisfies readonly PermissionMode[];
const LEVELS = ["L0", "L1", "L2"] as const satisfies readonly SafetyLevel[];

interface Given extends Partial<PermissionSettings> {
  readonly tool?: string;
  readonly judgement?: Partial<CallJudgement>;
  readonly allowances?: readonly SessionAllowance[];
  readonly trustTier?: "plugin" | "skill";
  readonly externalSource?: string;
  readonly repeats?: string;
}

function ask({ tool = "shell_exec", judgement, allowances = [], trustTier, externalSource, repeats, ...settings }: Given) {
  const definition = { ...findNativeTool(tool)!, ...(trustTier === undefined ? {} : { trustTier }) };
  const question: Question = {
    call: {
      definition,
      definitionHash: "",
      arguments: { value: {}, json: "{}", hash: "" },
      judgement: { level: "L2", scope: [], ...judgement },
    },
    settings: { mode: "default", allowedTools: [], disallowedTools: [], canAsk: true, ...settings },
    allowances,
    externalSource,
    repeats,
  };
  const { decision, step, rule } = decide(question);
  return `${decision} by ${step} (${rule})`;
}

const rm = { destructive: "rm" };
const push = { destructive: "x", danger: { decision: "ask", rule: "git push --force", reason: "" } } as const;
const ruin = { destructive: "rm", danger: { decision: "deny", rule: "rm -r of a system or home folder", reason: "" } } as const;

describe("decide", () => {
  it("follows the table of modes and levels", () => {
    const table = MODES.map((mode) => [mode, ...LEVELS.map((level) => ask({ mode, judgement: { level } }).split(" ")[0])]);
    expect(table).toEqual([
      ["default", "allow", "ask", "ask"],
      ["plan", "allow", "deny", "deny"],
      ["acceptEdits", "allow", "allow", "ask"],
      ["bypassPermissions", "allow", "allow", "allow"],
      ["dontAsk", "allow", "deny", "deny"],
    ]);
  });

  it("2: denies what is disallowed before anything else, by name or beginning", () => {
    for (const mode of MODES)
      expect(ask({ mode, disallowedTools: ["shell_*"], allowedTools: ["shell_exec"], judgement: { level: "L0" } })).toBe(
        "deny by deny_list (disallowedTools: shell_*)",
      );
    expect(ask({ tool: "read_file", disallowedTools: ["read"], judgement: { level: "L0" } })).toBe("allow by read_only (L0)");
  });

  it("asks in every mode before anything leaves or is written outside while external content is in the context", () => {
    const externalSource = "web_fetch in turn 3";
    const kept = { externalSource, tool: "memory_write", judgement: { level: "L1" } } as const;
    for (const mode of MODES) {
      const expected = mode === "dontAsk" ? "deny" : "ask";
      expect(ask({ ...kept, mode, allowedTools: ["memory_write"] })).toBe(
        mode === "plan" ? "deny by mode (plan: L1)" : `${expected} by trust_floor (external content: write outside)`,
      );
      const sent = { externalSource, mode, tool: "read_file", trustTier: "plugin", judgement: { level: "L0" } } as const;
      expect(ask(sent)).toBe(`${expected} by trust_floor (external content: egress)`);
    }
    expect(ask({ ...kept, disallowedTools: ["memory_write"] })).toMatch(/^deny by deny_list/);
    expect(ask({ externalSource, mode: "acceptEdits", tool: "write_file", judgement: { level: "L1" } })).toMatch(/^allow by mode/);
    expect(ask({ externalSource, mode: "bypassPermissions", judgement: ruin })).toMatch(/^deny by command_safety/);
    const allowance = { tool: "memory_write", level: "L1", scope: [] } as const;
    expect(ask({ ...kept, allowances: [{ ...allowance, step: "mode" }] })).toMatch(/^ask by trust_floor/);
    expect(ask({ ...kept, allowances: [{ ...allowance, step: "trust_floor" }] })).toMatch(/^allow by trust_floor/);
  });

  it("3: allows what is explicitly allowed in mode dontAsk, an L2 command included", () => {
    expect(ask({ mode: "dontAsk", canAsk: false, allowedTools: ["shell_exec"] })).toBe(
      "allow by explicit_allow (allowedTools: shell_exec)",
    );
    expect(ask({ tool: "write_file", allowedTools: ["write_*"], judgement: { level: "L1" } })).toBe(
      "allow by explicit_allow (allowedTools: write_*)",
    );
  });

  it("3: never skips what is destructive or dangerous", () => {
    const allowed = { allowedTools: ["*", "shell_exec"] } as const;
    expect(ask({ ...allowed, judgement: rm })).toBe("ask by destructive (destructive: rm)");
    expect(ask({ ...allowed, mode: "dontAsk", judgement: rm })).toBe("deny by destructive (destructive: rm)");
    expect(ask({ ...allowed, judgement: push })).toBe("ask by command_safety (git push --force)");
    expect(ask({ ...allowed, judgement: ruin })).toBe("deny by command_safety (rm -r of a system or home folder)");
  });

  it("writes nothing in plan mode, whatever was allowed by name or for the session, and however dangerous", () => {
    expect(ask({ mode: "plan", allowedTools: ["shell_exec"] })).toBe("deny by mode (plan: L2)");
    const allowances = [{ tool: "shell_exec", level: "L2", scope: [], step: "mode" }] as const;
    expect(ask({ mode: "plan", allowances })).toBe("deny by mode (plan: L2)");
    expect(ask({ mode: "plan", judgement: push })).toBe("deny by mode (plan: L2)");
    expect(ask({ mode: "plan", tool: "read_file", judgement: { level: "L0" } })).toMatch(/^allow/);
  });

  it("puts a question to a person in every mode that may ask, and a plan only in plan mode, whatever was allowed", () => {
    const question = { tool: "request_clarification", judgement: { level: "L0" }, allowedTools: ["*"] } as const;
    for (const mode of MODES) expect(ask({ ...question, mode })).toBe(`${mode === "dontAsk" ? "deny" : "ask"} by question (question)`);
    expect(ask({ ...question, canAsk: false })).toBe("deny by question (question; nobody can be asked)");
    const plan = { ...question, tool: "propose_plan" };
    expect(ask({ ...plan, mode: "plan" })).toBe("ask by question (plan)");
    expect(ask({ ...plan, mode: "acceptEdits" })).toBe("deny by question (plan: not in plan mode)");
    expect(ask({ ...plan, mode: "plan", disallowedTools: ["propose_plan"] })).toMatch(/^deny by deny_list/);
  });

  it("3: takes a session's answer for the same tool at the same or a lower level, within its scope", () => {
    const allowances = [{ tool: "shell_exec", level: "L2", scope: ["npm test"], step: "mode" }] as const;
    expect(ask({ allowances, judgement: { scope: ["npm test"] } })).toMatch(/^allow/);
    expect(ask({ allowances, judgement: { scope: ["npm test", "npm publish"] } })).toMatch(/^ask/);
    expect(ask({ allowances, judgement: { level: "L1" } })).toMatch(/^allow/);
    expect(ask({ allowances: [{ tool: "shell_exec", level: "L1", scope: [], step: "mode" }] })).toMatch(/^ask/);
    expect(ask({ allowances: [{ tool: "write_file", level: "L2", scope: [], step: "mode" }] })).toMatch(/^ask/);
  });

  it("5: asks about what destroys, and denies it where nobody can be asked; bypassPermissions goes on", () => {
    expect(ask({ mode: "acceptEdits", judgement: rm })).toBe("ask by destructive (destructive: rm)");
    expect(ask({ canAsk: false, judgement: rm })).toBe("deny by destructive (destructive: rm; nobody can be asked)");
    expect(ask({ mode: "bypassPermissions", judgement: rm })).toBe("allow by mode (bypassPermissions: L2)");
  });

  it("6: asks or denies what is dangerous in every mode", () => {
    expect(MODES.map((mode) => ask({ mode, judgement: ruin }).slice(0, 4))).toEqual(["deny", "deny", "deny", "deny", "deny"]);
    expect(MODES.map((mode) => ask({ mode, judgement: push }).split(" ")[0])).toEqual(["ask", "deny", "ask", "ask", "deny"]);
    expect(ask({ mode: "bypassPermissions", canAsk: false, judgement: push })).toBe(
      "deny by command_safety (git push --force; nobody can be asked)",
    );
  });

  it("7: takes acceptEdits for the platform's own tools only", () => {
    expect(ask({ mode: "acceptEdits", judgement: { level: "L1" }, trustTier: "plugin" })).toBe("ask by mode (acceptEdits: L1 of a plugin)");
  });

  it("asks whether to make a call once more of which nobody knows whether it took effect, whatever is allowed", () => {
    const repeats = "r.1.1";
    for (const mode of ["default", "acceptEdits", "bypassPermissions"] as const)
      expect(ask({ mode, repeats, allowedTools: ["*"], judgement: { level: "L1" } })).toBe("ask by in_doubt (made before)");
    expect(ask({ repeats, mode: "bypassPermissions", canAsk: false })).toBe("deny by in_doubt (made before; nobody can be asked)");
    expect(ask({ repeats, mode: "dontAsk", allowedTools: ["*"] })).toMatch(/^deny/);
    expect(ask({ repeats, judgement: ruin })).toMatch(/^deny by command_safety/);
    expect(ask({ repeats, disallowedTools: ["shell_exec"] })).toMatch(/^deny by deny_list/);
  });

  it("never asks where nobody can be, and never allows more with fewer rights", () => {
    const given = fc.record({
      mode: fc.constantFrom(...MODES),
      allowedTools: fc.subarray(["shell_exec", "read_*", "*"]),
      disallowedTools: fc.subarray(["shell_exec", "write_*"]),
      judgement: fc
        .record({ level: fc.constantFrom(...LEVELS) })
        .chain((base) => fc.constantFrom(base, { ...base, ...rm }, { ...base, ...push })),
    });
    const property = fc.property(given, (settings) => {
      const alone = ask({ ...settings, canAsk: false });
      const narrower = ask({ ...settings, disallowedTools: ["shell_exec"] });
      return !alone.startsWith("ask") && narrower.startsWith("deny") && (!alone.startsWith("allow") || ask(settings).startsWith("allow"));
    });
    expect(() => fc.assert(property)).not.toThrow();
  });
});
