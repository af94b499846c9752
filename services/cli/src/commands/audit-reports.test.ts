import { describe, expect, it } from "vitest";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AuditField, AuditKind, OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { edgeWith } from "../testing/edge-with.ts";
import { jsonLines } from "../testing/json-lines.ts";
import { runHlvm } from "../testing/run-hlvm.ts";

const at = timestampFromDate(new Date("2026-11-21T10:00:00Z"));
const SESSION = "5f0c4b1e-7a93-4b32-8f0a-0d7f6c1f2a11";

describe("hlvm audit query", () => {
  it("narrows by all that the log can be narrowed by, and refuses what is no such thing", async () => {
    const edge = await edgeWith(async () => {});
    const words = "--outcome failed --level L2 --mode dontAsk --rule dontAsk --host example.com --call c1 --path src --decision deny";
    const hlvm = runHlvm(["audit", "query", ...words.split(" "), "--run", SESSION], { edgeUrl: edge.url });
    expect(await hlvm.ended).toBe(0);
    expect(edge.audited[0]).toMatchObject({
      outcome: OutcomeStatus.FAILED,
      safetyLevel: SafetyLevel.L2,
      mode: PermissionMode.DONT_ASK,
      decision: Decision.DENY,
      rule: "dontAsk",
      host: "example.com",
      callId: "c1",
      path: "src",
      runId: SESSION,
    });
    for (const wrong of [
      ["--outcome", "odd"],
      ["--level", "L9"],
      ["--mode", "odd"],
      ["--run", "odd"],
    ]) {
      const refused = runHlvm(["audit", "query", ...wrong], { edgeUrl: edge.url });
      expect(await refused.ended).toBe(2);
      expect(refused.stderr).toContain(wrong[0]);
    }
  });
});

describe("hlvm audit aggregate", () => {
  it("shows counts by field and over time", async () => {
    const edge = await edgeWith(async () => {});
    edge.counts = {
      events: 12n,
      facets: [
        {
          field: AuditField.TOOL,
          counts: [
            { value: "shell_exec", events: 9n },
            { value: "", events: 1n },
          ],
          otherEvents: 2n,
        },
      ],
      buckets: [{ start: at, events: 12n, allowed: 10n, asked: 0n, denied: 2n }],
      bucketSeconds: 3600,
    };
    const shown = runHlvm(["audit", "aggregate", "--by", "tool,step", "--since", "7d"], { edgeUrl: edge.url });
    const lines = runHlvm(["audit", "aggregate", "--json"], { edgeUrl: edge.url });
    const wrong = runHlvm(["audit", "aggregate", "--by", "tool,colour"], { edgeUrl: edge.url });
    expect(await shown.ended).toBe(0);
    expect(shown.stdout).toMatch(/tool +shell_exec +9 +▇+\ntool +\(none\) +1 +▇+\ntool +\(others\) +2 +▇+\nall +12/);
    expect(shown.stdout).toMatch(/FROM +EVENTS +ALLOWED +ASKED +DENIED\n2026-11-2\S+ \S+ +12 +10 +0 +2 +▇{40}\n$/);
    expect(await lines.ended).toBe(0);
    expect(JSON.parse(lines.stdout)).toMatchObject({
      events: 12,
      bucket_seconds: 3600,
      facets: [{ field: "tool", other_events: 2, counts: [{ value: "shell_exec", events: 9 }, {}] }],
    });
    expect(await wrong.ended).toBe(2);
    expect(wrong.stderr).toContain('There is no field "colour".');
  });
});

describe("hlvm audit timeline", () => {
  it("tells a session's story, with nothing hidden in it", async () => {
    const edge = await edgeWith(async () => {});
    const call = { at, principal: "user:ada", tool: "shell_exec", argumentsJson: '{"command":"make\u202e"}' };
    edge.audit.push({ ...call, kind: AuditKind.APPROVAL_REQUESTED, decision: Decision.ASK, rule: "default: L2" });
    edge.audit.push({ at, principal: "user:ben", kind: AuditKind.APPROVAL_ANSWERED, decision: Decision.ALLOW, rule: "answer: once" });
    edge.audit.push({ at, kind: AuditKind.OUTCOME, principal: "user:ada", outcome: OutcomeStatus.FAILED, outcomeSummary: "exit code 2" });
    const shown = runHlvm(["audit", "timeline", SESSION], { edgeUrl: edge.url });
    const lines = runHlvm(["audit", "timeline", SESSION, "--json"], { edgeUrl: edge.url });
    expect(await shown.ended).toBe(0);
    expect(shown.stdout).toMatch(/approval_requested +user:ada +shell_exec +ask +default: L2 +\{"command":"make<U\+202E>"\}\n/);
    expect(shown.stdout).toMatch(/approval_answered +user:ben +allow +answer: once\n.*outcome +user:ada +failed +exit code 2\n$/);
    expect(await lines.ended).toBe(0);
    expect(jsonLines(lines.stdout)).toMatchObject([{ kind: "approval_requested" }, { decision: "allow" }, { outcome: "failed" }]);
  });
});

describe("hlvm audit touched", () => {
  it("asks for a path or a host, and for one of them at least", async () => {
    const edge = await edgeWith(async () => {});
    expect(await runHlvm(["audit", "touched", "--host", "example.com"], { edgeUrl: edge.url }).ended).toBe(0);
    expect(edge.audited[0]).toMatchObject({ host: "example.com", path: "" });
    const nothing = runHlvm(["audit", "touched"], { edgeUrl: edge.url });
    expect(await nothing.ended).toBe(2);
    expect(nothing.stderr).toContain("Give a path, or a host with --host.");
  });
});

describe("hlvm audit tail", () => {
  it("goes on behind the last event when its stream ends, and stops at Ctrl-C", async () => {
    const edge = await edgeWith(async () => {});
    const event = {
      at,
      kind: AuditKind.INTENT,
      principal: "user:ada",
      tool: "read_file",
      decision: Decision.ALLOW,
      step: DecidingStep.MODE,
    };
    edge.audit.push({ ...event, id: 4n, argumentsJson: '{"path":"one"}' }, { ...event, id: 9n, argumentsJson: '{"path":"two\u001b[2J"}' });
    const hlvm = runHlvm(["audit", "tail", "--tool", "read_file"], { edgeUrl: edge.url });
    await hlvm.shows("two");
    expect(edge.audited[0]).toMatchObject({ tool: "read_file" });
    hlvm.child.kill("SIGINT");
    expect(await hlvm.ended).toBe(130);
    expect(hlvm.stdout).toMatch(/^\S+ \S+ {2}intent {2}user:ada {2}read_file {2}allow {2}\{"path":"one"\}\n.*two␛\[2J"\}\n$/);
  });
});

describe("hlvm audit export", () => {
  it("writes all pages, as records that no spreadsheet calculates or as lines of JSON", async () => {
    const edge = await edgeWith(async () => {});
    const argumentsJson = '{"command":"a","x":1}';
    for (let index = 0; index < 2_500; index++)
      edge.audit.push({ id: BigInt(index), at, kind: AuditKind.INTENT, principal: '=HYPERLINK("http://evil")', argumentsJson });
    const csv = runHlvm(["audit", "export", "--format", "csv"], { edgeUrl: edge.url });
    expect(await csv.ended).toBe(0);
    const lines = runHlvm(["audit", "export"], { edgeUrl: edge.url });
    const records = csv.stdout.split("\r\n");
    expect(records).toHaveLength(2_502);
    expect(records[0]).toMatch(/^id,at,kind,principal,session_id,/);
    expect(records[1]).toMatch(/^0,2026-11-21T10:00:00.000Z,intent,"'=HYPERLINK\(""http:\/\/evil""\)",,/);
    expect(records[1]).toContain('"{""command"":""a"",""x"":1}"');
    expect(await lines.ended).toBe(0);
    expect(jsonLines(lines.stdout).map(({ id }) => id)).toEqual(Array.from({ length: 2_500 }, (_, index) => index));
    expect(edge.audited.map(({ beforeId }) => beforeId)).toEqual([0n, 1_000n, 2_000n, 0n, 1_000n, 2_000n]);
  });
});
