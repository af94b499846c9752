import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createTestIdentity, testEnforcement } from "@hlvm/testing/test-identity";
import { signJws } from "@hlvm/identity/compact-jws";
import { publicKeysOf } from "@hlvm/identity/public-keys";
import { createSigningKey, signingKeyOf } from "@hlvm/identity/signing-key";
import { GrantGate, type GrantedCall } from "./grant-gate.ts";
import { GrantSigner } from "./grant-signer.ts";

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
    const grant = signer.sign({ ...call, policyVersion: "1", ...testEnforcement });
    expect(gate.pass(grant, call)).toMatchObject(testEnforcement);
    expect(() => gate.pass(grant, call)).toThrow("it was used before");
  });

  it("lets a call through again that did not start and gave its grant back", async () => {
    const { signer, gate: createGate } = await createTestIdentity();
    const gate = createGate();
    const grant = signer.sign({ ...call, policyVersion: "1", ...testEnforcement });
    const verified = gate.verify(grant, call);
    gate.use(verified);
    gate.giveBack(verified);
    expect(gate.pass(grant, call)).toMatchObject(testEnforcement);
    expect(() => gate.pass(grant, call)).toThrow("it was used before");
  });

  it("refuses a grant that expired between the look at it and its use", async () => {
    const { signer, gate: createGate } = await createTestIdentity();
    const gate = createGate();
    const verified = gate.verify(signer.sign({ ...call, policyVersion: "1", ...testEnforcement }), call);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    try {
      expect(() => gate.use(verified)).toThrow("expired");
    } finally {
      vi.useRealTimers();
    }
  });

  it.each(Object.keys(call) as (keyof GrantedCall)[])("refuses a grant for another %s", async (field) => {
    const { signer, gate } = await createTestIdentity();
    const grant = signer.sign({ ...call, policyVersion: "1", ...testEnforcement });
    expect(() => gate().pass(grant, { ...call, [field]: "other" })).toThrow(`another ${field}`);
  });

  it("refuses a grant that another policy signed, and one that is too old", async () => {
    const [ours, theirs] = [await createTestIdentity(), await createTestIdentity()];
    expect(() => ours.gate().pass(theirs.signer.sign({ ...call, policyVersion: "1", ...testEnforcement }), call)).toThrow(
      "nobody knows its key",
    );
    const old = ours.signer.sign({ ...call, policyVersion: "1", ...testEnforcement });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    try {
      expect(() => ours.gate().pass(old, call)).toThrow("expired");
    } finally {
      vi.useRealTimers();
    }
  });

  it("refuses a grant that another service of the mesh signed, and what policy signed for another purpose", async () => {
    const [edge, policy] = await Promise.all([createSigningKey("edge"), createSigningKey("policy")]);
    const gate = new GrantGate(publicKeysOf([edge.publicJwk, policy.publicJwk]));
    const [edgeKey, policyKey] = [signingKeyOf(edge.privateJwk), signingKeyOf(policy.privateJwk)];
    const ofEdge = new GrantSigner(() => edgeKey).sign({ ...call, policyVersion: "1", ...testEnforcement });
    expect(() => gate.pass(ofEdge, call)).toThrow("it is not policy's");
    const claims = { ...call, ...testEnforcement, policyVersion: "1", id: "1", expiresAt: Date.now() };
    expect(() => gate.pass(signJws(claims, "hlvm-call+jwt", policyKey), call)).toThrow("signed for another purpose");
    expect(() => gate.pass(signJws(claims, "hlvm-grant+jwt", policyKey), call)).not.toThrow();
  });

  it("refuses every grant of which a byte was changed", async () => {
    const { signer, gate } = await createTestIdentity();
    const grant = signer.sign({ ...call, policyVersion: "1", ...testEnforcement });
    fc.assert(
      fc.property(fc.nat(grant.length - 1), fc.constantFrom(..."Aa0_-.=\n"), (place, letter) => {
        fc.pre(grant[place] !== letter);
        expect(() => gate().pass(grant.slice(0, place) + letter + grant.slice(place + 1), call)).toThrow(
          "The grant does not allow this call",
        );
      }),
    );
  });

  it.each(["", "..", "a.b.c", "e30.e30.e30", "null", "\u0000"])("refuses %j: it is no grant", async (text) => {
    const { gate } = await createTestIdentity();
    expect(() => gate().pass(text, call)).toThrow(expect.objectContaining({ reason: "grant_refused" }));
  });
});
