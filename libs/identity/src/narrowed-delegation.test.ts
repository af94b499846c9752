import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { PermissionMode, PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { signJws } from "./compact-jws.ts";
import { DelegationNarrower } from "./delegation-narrower.ts";
import { DelegationSigner } from "./delegation-signer.ts";
import { DelegationVerifier } from "./delegation-verifier.ts";
import { publicKeysOf } from "./public-keys.ts";
import { createSigningKey, signingKeyOf } from "./signing-key.ts";

const principal = { organization: "local", id: "user:ada", roles: ["developer"] as const };
const settings = create(PermissionSettingsSchema, { mode: PermissionMode.PLAN, canAsk: true });
const wide = create(PermissionSettingsSchema, { mode: PermissionMode.BYPASS_PERMISSIONS, allowedTools: ["shell_exec"] });
const [edge, orchestrator, memory] = await Promise.all((["edge", "orchestrator", "memory"] as const).map(createSigningKey));
const keyOf = (of: typeof edge) => signingKeyOf(of!.privateJwk);
const verifier = new DelegationVerifier(publicKeysOf([edge!, orchestrator!, memory!].map((key) => key.publicJwk)));
const sessionId = randomUUID();
const root = new DelegationSigner(() => keyOf(edge)).sign({ principal, sessionId, runId: randomUUID(), settings });
const narrower = new DelegationNarrower(() => keyOf(orchestrator));

describe("a narrowed delegation", () => {
  it("keeps person and session, and has the settings of every part", () => {
    const runId = randomUUID();
    const worker = narrower.narrow(narrower.narrow(root, { runId: verifier.verify(root).runId, settings: wide }), {
      runId,
      settings: wide,
    });
    expect(verifier.verify(worker)).toMatchObject({ principal, sessionId, runId, depth: 1, settings: wide, within: [settings, wide] });
    expect(verifier.verify(worker)).toBe(verifier.verify(worker));
  });

  it("does not count where another service narrowed it, a link is of another one or missing, or there are too many", () => {
    const refusals: Record<string, string> = {
      "a service that may not act": new DelegationNarrower(() => keyOf(memory)).narrow(root, { runId: "r", settings: wide }),
      "narrows another": (() => {
        const other = narrower.narrow(narrower.narrow(root, { runId: "a", settings }), { runId: "b", settings: wide });
        const [first, , last] = other.split("~");
        return `${first}~${last}`;
      })(),
      "more than 12 times": Array.from({ length: 13 }).reduce<string>((text) => narrower.narrow(text, { runId: "r", settings }), root),
      "for another purpose": `${root}~${root}`,
      "not a signed text": `${root}~`,
    };
    for (const [why, text] of Object.entries(refusals)) expect(() => verifier.verify(text)).toThrow(why);
    const [, link] = narrower.narrow(root, { runId: "r", settings: wide }).split("~");
    expect(() => verifier.verify(link!)).toThrow("for another purpose");
  });

  it("cannot be the start of a chain when the orchestrator signs it itself", () => {
    const forged = signJws({ iss: "orchestrator", azp: "orchestrator", sub: "user:eve" }, "hlvm-delegation+jwt", keyOf(orchestrator));
    expect(() => verifier.verify(narrower.narrow(forged, { runId: "r", settings: wide }))).toThrow("only the edge delegates");
  });
});
