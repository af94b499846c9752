import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CallOptions } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { WORKSPACE_GRANT_HEADER, type WorkspaceGrant } from "@hlvm/grant/workspace-grant";
import type { Principal } from "@hlvm/identity/principal";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { refusal } from "../testing/refusal.ts";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();
const bob: Principal = { ...testPrincipal, id: "user:bob" };

type Given = Partial<Omit<WorkspaceGrant, "expiresAt">>;

/** Bob's calls, with what policy signed for him where the owner shared the session. */
const bobs = async (sessionId: string, given: Given = {}, sign = service.identity.signWorkspaceGrant): Promise<CallOptions> => {
  const { organization, id: owner } = testPrincipal;
  const grant = sign({ organization, sessionId, owner, principal: bob.id, use: "drive", ...given });
  const headers = new Headers((await service.headersOf(bob)).headers);
  headers.set(WORKSPACE_GRANT_HEADER, grant);
  return { headers };
};

async function openShared() {
  const { sessionId, workspace } = await service.open();
  await service.execute({ sessionId, tool: "write_file", given: { path: "a.txt", content: "one" } });
  const uses = async (options: CallOptions) => {
    const { client } = service;
    const tried = {
      look: () => client.getChanges({ sessionId, anyWorkspace: true }, options),
      processes: () => client.listProcesses({ sessionId }, options),
      copy: () => client.copyWorkspace({ sessionId, path: workspace, newSessionId: randomUUID() }, options),
      open: () => client.openWorkspace({ sessionId, path: workspace }, options),
      preview: () => client.previewCall({ sessionId, tool: "write_file", argumentsJson: '{"path":"a.txt","content":"two"}' }, options),
      receipt: () => client.getReceipt({ sessionId, callId: "none" }, options),
      rewind: () => client.rewindWorkspace({ sessionId, turns: [], preview: true }, options),
    };
    const refused = new Map<string, string>();
    for (const [use, attempt] of Object.entries(tried)) {
      const why = await attempt().then(
        () => "",
        (thrown: unknown) => refusal(Promise.reject(thrown as Error)),
      );
      if (why !== "" && !why.startsWith("InvalidArgument")) refused.set(use, why);
    }
    return refused;
  };
  return { sessionId, workspace, uses };
}

const ALL = ["look", "processes", "copy", "open", "preview", "receipt", "rewind"];

describe("the workspace of a session that is shared", () => {
  it("is used as the grant says: to look, or to drive, and by nobody without one", async () => {
    const { sessionId, workspace, uses } = await openShared();
    expect([...(await uses(await service.headersOf(bob))).keys()]).toEqual(ALL);
    expect(await uses(await bobs(sessionId))).toEqual(new Map());
    const looking = await uses(await bobs(sessionId, { use: "view" }));
    expect([...looking.keys()]).toEqual(["open", "preview", "receipt", "rewind"]);
    expect(new Set(looking.values())).toEqual(new Set(["PermissionDenied workspace_grant_refused"]));
    const { headers } = await bobs(sessionId);
    await service.execute({ sessionId, tool: "write_file", given: { path: "b.txt", content: "two" }, principal: bob, headers });
    expect(readFileSync(join(workspace, "b.txt"), "utf8")).toBe("two");
    expect(await refusal(service.execute({ sessionId, tool: "write_file", given: { path: "c.txt", content: "x" }, principal: bob }))).toBe(
      "NotFound session_not_found",
    );
  });

  it("opens by no grant for another session, person or owner, and by none that policy did not sign", async () => {
    const { sessionId, uses } = await openShared();
    const other = await createTestIdentity();
    const forged: CallOptions[] = await Promise.all([
      bobs(sessionId, { sessionId: randomUUID() }),
      bobs(sessionId, { principal: "user:eve" }),
      bobs(sessionId, { organization: "other" }),
      bobs(sessionId, { owner: "user:eve" }),
      bobs(sessionId, {}, other.signWorkspaceGrant),
    ]);
    for (const options of forged) expect([...(await uses(options)).keys()]).toEqual(ALL);
  });

  it("is not taken away by who drives it: what was prepared goes with its owner's word alone", async () => {
    const { sessionId, workspace } = await openShared();
    const newSessionId = randomUUID();
    const ada = await service.headersOf(testPrincipal);
    const { workspace: made } = await service.client.copyWorkspace({ sessionId, path: workspace, newSessionId }, ada);
    await service.client.openWorkspace({ sessionId: newSessionId, path: "" }, ada);
    await service.client.closeWorkspace({ sessionId: newSessionId }, await bobs(newSessionId));
    expect(existsSync(made!.path)).toBe(true);
    await service.client.openWorkspace({ sessionId: newSessionId, path: "" }, ada);
    await service.client.closeWorkspace({ sessionId: newSessionId }, ada);
    expect(existsSync(made!.path)).toBe(false);
  });
});
