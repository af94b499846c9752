import { describe, expect, it, vi } from "vitest";
import { createTestIdentity } from "@hlvm/testing/test-identity";
import type { GrantedCall } from "./grant-gate.ts";

const call: GrantedCall = {
  organization: "acme",
  principal: "user:ada",
  sessionId: "session",
  runId: "run",
  callId: "call",
  tool: "shell_exec",
  definitionHash: "d".repeat(64),
  argumentsHash: "a".repeat(64),
};

describe("GrantGate", () => {
  it("lets the granted call through once", async () => {
    const { signer, gate: createGate } = await createTestIdentity();
    const gate = createGate();
    const grant = await signer.sign({ ...call, policyVersion: "1" });
    await expect(gate.pass(grant, call)).resolves.toBeUndefined();
    await expect(gate.pass(grant, call)).rejects.toThrow("it was used before");
  });

  it.each(Object.keys(call) as (keyof GrantedCall)[])("refuses a grant for another %s", async (field) => {
    const { signer, gate } = await createTestIdentity();
    const grant = await signer.sign({ ...call, policyVersion: "1" });
    await expect(gate().pass(grant, { ...call, [field]: "other" })).rejects.toMatchObject({ reason: "grant_refused" });
  });

  it("refuses a grant that another policy signed, and one that is too old", async () => {
    const [ours, theirs] = [await createTestIdentity(), await createTestIdentity()];
    await expect(ours.gate().pass(await theirs.signer.sign({ ...call, policyVersion: "1" }), call)).rejects.toMatchObject({ reason: "grant_refused" });
    const old = await ours.signer.sign({ ...call, policyVersion: "1" });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    try {
      await expect(ours.gate().pass(old, call)).rejects.toMatchObject({ reason: "grant_refused" });
    } finally {
      vi.useRealTimers();
    }
  });
});
