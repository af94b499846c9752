import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DelegationVerifier } from "@hlvm/identity/delegation-verifier";
import { publicKeysOf } from "@hlvm/identity/public-keys";
import { PermissionMode, PermissionSettingsSchema, type PermissionSettings as Settings } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { nativeTools, findNativeTool } from "@hlvm/tools/native-tools";
import { openCommandJudge } from "../../adapters/parsers/open-command-judge.ts";
import { settingsOfDelegation } from "../../rpc/decode-settings.ts";
import { callOf } from "../../testing/test-calls.ts";
import { createCallJudge } from "../judge/create-call-judge.ts";
import { decide } from "./decide.ts";
import type { Decision, PermissionSettings } from "./decision.ts";
import { resolveCall } from "./resolve-call.ts";

const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };
const identity = await createTestIdentity();
const verifier = new DelegationVerifier(publicKeysOf(identity.tokenKeys));
const judgeCall = createCallJudge(openCommandJudge);

const pattern = fc.constantFrom(...nativeTools.map(({ name }) => name), "git_*", "memory_*", "read_*", "shell_*", "w*");
const patterns = fc.array(pattern, { maxLength: 6 });
const settings: fc.Arbitrary<Settings> = fc
  .record({
    mode: fc.constantFrom(...[1, 2, 3, 4, 5].map((mode) => mode as PermissionMode)),
    allowedTools: patterns,
    disallowedTools: patterns,
    canAsk: fc.boolean(),
    onlyTools: fc.option(
      patterns.map((tools) => ({ tools })),
      { nil: undefined },
    ),
  })
  .map((init) => create(PermissionSettingsSchema, init));

const commands = ["ls", "npm test", "rm -rf build", "echo x > a", "git push --force", "curl example.com", "cat a; touch b"];
const paths = ["a", "../../etc/passwd", "/workspace/a", ".git/hooks/pre-commit", "package.json"];
const call = fc.oneof(
  fc.constantFrom(...commands).map((command) => ({ tool: "shell_exec", arguments: { command } })),
  fc.constantFrom(...paths).map((path) => ({ tool: "write_file", arguments: { path, content: "x" } })),
  fc.constantFrom(...paths).map((path) => ({ tool: "read_file", arguments: { path } })),
  fc.constantFrom("memory_write", "memory_search", "git_log", "spawn_worker", "stop_process").map((tool) => ({ tool, arguments: {} })),
);

async function decisionUnder(under: PermissionSettings, asked: { tool: string; arguments: object }, externalSource?: string) {
  const resolved = await resolveCall(callOf(asked as never), testPrincipal, findNativeTool, judgeCall);
  return "definition" in resolved ? decide({ call: resolved, settings: under, allowances: [], externalSource }).decision : "deny";
}

describe("a delegation that was narrowed", () => {
  it("never lets a worker do what its parent could not, whatever the settings on the way say", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        settings,
        fc.array(settings, { minLength: 1, maxLength: 3 }),
        call,
        fc.option(fc.constant("web_fetch in turn 1"), { nil: undefined }),
        async (own, links, asked, externalSource) => {
          const sessionId = randomUUID();
          let text = identity.delegate({ principal: testPrincipal, sessionId, settings: own });
          let above = await decisionUnder(settingsOfDelegation(verifier.verify(text)), asked, externalSource);
          for (const link of links) {
            const runId = randomUUID();
            text = identity.narrow(text, { runId, settings: link });
            const delegation = verifier.verify(text);
            // Its workspace, which bounds every path, and its person are its parent's.
            expect(delegation).toMatchObject({ sessionId, runId, principal: testPrincipal });
            const below = await decisionUnder(settingsOfDelegation(delegation), asked, externalSource);
            expect(STRICTNESS[below]).toBeGreaterThanOrEqual(STRICTNESS[above]);
            above = below;
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("denies what is outside of the tools of any part of it", async () => {
    const bypass = create(PermissionSettingsSchema, { mode: PermissionMode.BYPASS_PERMISSIONS });
    const reading = create(PermissionSettingsSchema, { mode: bypass.mode, onlyTools: { tools: ["read_*"] } });
    const nothing = create(PermissionSettingsSchema, { mode: bypass.mode, onlyTools: { tools: [] } });
    const under = (...parts: Settings[]): PermissionSettings =>
      settingsOfDelegation({ within: parts.slice(0, -1), settings: parts.at(-1)! });
    const write = { tool: "write_file", arguments: { path: "a", content: "x" } };
    const read = { tool: "read_file", arguments: { path: "a" } };
    expect(await decisionUnder(under(bypass), write)).toBe("allow");
    for (const settings of [under(bypass, reading), under(reading, bypass), under(bypass, reading, bypass)]) {
      expect(await decisionUnder(settings, write)).toBe("deny");
      expect(await decisionUnder(settings, read)).toBe("allow");
    }
    expect(await decisionUnder(under(bypass, nothing), read)).toBe("deny");
  });
});
