import { describe, expect, it } from "vitest";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AuditKind, OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { edgeWith } from "../testing/edge-with.ts";
import { runHlvm } from "../testing/run-hlvm.ts";
import { TOKEN } from "../testing/scripted-edge.ts";

describe("hlvm audit query", () => {
  it("tells who, what, decision, deciding step and outcome", async () => {
    const edge = await edgeWith(async () => {});
    edge.audit.push({
      id: 7n,
      at: timestampFromDate(new Date("2026-11-21T10:00:00Z")),
      kind: AuditKind.INTENT,
      principal: "user:ada",
      tool: "shell_exec",
      argumentsJson: '{"command":"npm test"}',
      decision: Decision.ALLOW,
      step: DecidingStep.EXPLICIT_ALLOW,
      rule: "allowedTools: shell_exec",
      mode: PermissionMode.DONT_ASK,
      safetyLevel: SafetyLevel.L2,
      outcome: OutcomeStatus.SUCCEEDED,
    });
    const rows = runHlvm(["audit", "query", "--tool", "shell_exec", "--since", "1h"], { edgeUrl: edge.url });
    const lines = runHlvm(["audit", "query", "--json"], { edgeUrl: edge.url });
    expect(await rows.ended).toBe(0);
    expect(rows.stdout).toMatch(
      /user:ada +shell_exec +allow +explicit_allow +allowedTools: shell_exec +succeeded +\{"command":"npm test"\}\n$/,
    );
    expect(await lines.ended).toBe(0);
    expect(JSON.parse(lines.stdout)).toMatchObject({
      id: 7,
      at: "2026-11-21T10:00:00.000Z",
      kind: "intent",
      tool: "shell_exec",
      decision: "allow",
      step: "explicit_allow",
      mode: "dontAsk",
      safety_level: "L2",
      outcome: "succeeded",
    });
  });

  it("says of an allowed call without an outcome that it is pending, and of one whose end nobody saw that it is unknown", async () => {
    const edge = await edgeWith(async () => {});
    const allowed = { kind: AuditKind.INTENT, principal: "user:ada", decision: Decision.ALLOW, argumentsJson: "{}" };
    edge.audit.push({ ...allowed, tool: "write_file" }, { ...allowed, tool: "shell_exec", outcome: OutcomeStatus.UNKNOWN });
    edge.audit.push({ ...allowed, tool: "move_file", decision: Decision.DENY });
    edge.audit.push({ kind: AuditKind.MODEL_CALLED, principal: "user:ada", tool: "demo/rules", argumentsJson: "{}" });
    const rows = runHlvm(["audit", "query"], { edgeUrl: edge.url });
    const lines = runHlvm(["audit", "query", "--json"], { edgeUrl: edge.url });
    expect(await rows.ended).toBe(0);
    expect(rows.stdout).toMatch(
      /write_file +allow .*pending .*\n.*shell_exec +allow .*unknown .*\n.*move_file +deny +- +\{\}\n.*demo\/rules +- +- +\{\}\n$/,
    );
    expect(await lines.ended).toBe(0);
    const outcomes = lines.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { outcome?: string }).outcome);
    expect(outcomes).toEqual(["pending", "unknown", "unspecified", "unspecified"]);
  });

  it("shows the grants that were given again, and those that were denied by then", async () => {
    const edge = await edgeWith(async () => {});
    const call = { principal: "user:ada", tool: "shell_exec", argumentsJson: "{}" };
    const [renewed, denied] = [AuditKind.GRANT_RENEWED, AuditKind.RENEWAL_DENIED];
    edge.audit.push({ ...call, kind: AuditKind.INTENT, decision: Decision.ALLOW, rule: "first" });
    edge.audit.push({ ...call, kind: renewed, decision: Decision.ALLOW, rule: "again" });
    edge.audit.push({ ...call, kind: denied, decision: Decision.DENY, rule: "stricter" });
    const rows = runHlvm(["audit", "query", "--kind", "grant_renewed"], { edgeUrl: edge.url });
    const lines = runHlvm(["audit", "query", "--kind", "renewal_denied", "--json"], { edgeUrl: edge.url });
    expect(await rows.ended).toBe(0);
    expect(rows.stdout).toMatch(/^TIME .*\n.*user:ada +shell_exec +allow +\S+ +again +\{\}\n$/);
    expect(await lines.ended).toBe(0);
    expect(JSON.parse(lines.stdout)).toMatchObject({ kind: "renewal_denied", decision: "deny", rule: "stricter", outcome: "unspecified" });
    const unknown = runHlvm(["audit", "query", "--kind", "nonsense"], { edgeUrl: edge.url });
    expect(await unknown.ended).toBe(2);
  });

  it("shows arguments with nothing of them hidden", async () => {
    const edge = await edgeWith(async () => {});
    edge.audit.push({ principal: "user:ada", argumentsJson: `{"command":"touch pwned;${" ".repeat(3_000)}echo \u202efine"}` });
    const rows = runHlvm(["audit", "query"], { edgeUrl: edge.url });
    expect(await rows.ended).toBe(0);
    expect(rows.stdout).toContain('{"command":"touch pwned;␠ × 3000echo <U+202E>fine"}');
  });

  it("ends with 141 when the reader leaves", async () => {
    const edge = await edgeWith(async () => {});
    for (let index = 0; index < 500; index++) edge.audit.push({ principal: "user:ada", argumentsJson: "x".repeat(1_000) });
    const hlvm = runHlvm(["audit", "query", "--json", "--limit", "500"], { edgeUrl: edge.url });
    await hlvm.shows("user:ada");
    hlvm.child.stdout!.destroy();
    expect(await hlvm.ended).toBe(141);
    expect(hlvm.stderr).toBe("");
  });

  it("says what the edge says where it refuses the token", async () => {
    const edge = await edgeWith(async () => {});
    const hlvm = runHlvm(["audit", "query"], { edgeUrl: edge.url, environment: { HLVM_TOKEN: "another" } });
    expect(await hlvm.ended).toBe(1);
    expect(hlvm.stdout).toBe("");
    expect(hlvm.stderr).toBe("The token is not accepted.\nWhat to do: Give the right one.\n");
  });

  it("takes a token as it is pasted, with the end of its line, and says what is wrong with one that is two", async () => {
    const edge = await edgeWith(async () => {});
    const pasted = runHlvm(["audit", "query", "--json"], { edgeUrl: edge.url, environment: { HLVM_TOKEN: `${TOKEN}\r\n` } });
    expect([await pasted.ended, pasted.stderr]).toEqual([0, ""]);
    const two = runHlvm(["audit", "query"], { edgeUrl: edge.url, environment: { HLVM_TOKEN: `${TOKEN}\n${TOKEN}` } });
    expect(await two.ended).not.toBe(0);
    expect(two.stderr).toContain("that no token has.\nWhat to do: Copy it again");
    expect(two.stderr).not.toContain(TOKEN);
  });
});
