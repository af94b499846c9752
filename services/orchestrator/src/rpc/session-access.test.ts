import { Code, type ConnectError } from "@connectrpc/connect";
import { beforeEach, describe, expect, it } from "vitest";
import type { Principal, Role } from "@hlvm/identity/principal";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ExportFormat } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const READS = ["watch", "getSession", "getContext", "exportSession", "forkSession"] as const;
const RUNS = ["cancelRun", "startRun", "updateSession", "deleteSession"] as const;
const test = useTestOrchestrator();

beforeEach(() => test.answers(["Hi."]));

const bob = (...roles: readonly Role[]): Principal => ({ organization: "local", id: "user:bob", roles });

/** Whoever may delete it finds the run that was just begun. */
function unlessRunning(thrown: unknown): void {
  if ((thrown as ConnectError).code !== Code.FailedPrecondition) throw thrown;
}

/** Does all that can be done with a session of ada's. @returns what that person was told is not there */
async function hiddenFrom(principal: Principal): Promise<string[]> {
  const { sessionId, runId } = await test.run();
  const { client } = test.orchestrator;
  const options = await test.orchestrator.as(principal);
  const settings = { mode: PermissionMode.DEFAULT };
  const calls = {
    watch: async () => {
      for await (const response of client.watch({ sessionId }, options)) return response;
    },
    getSession: () => client.getSession({ sessionId }, options),
    getContext: () => client.getContext({ sessionId }, options),
    exportSession: async () => {
      for await (const response of client.exportSession({ sessionId, format: ExportFormat.NDJSON }, options)) return response;
    },
    forkSession: () => client.forkSession({ sessionId }, options),
    cancelRun: () => client.cancelRun({ sessionId, runId }, options),
    startRun: () => client.startRun(test.asEdge({ sessionId, prompt: "and now?", settings }, principal), options),
    updateSession: () => client.updateSession({ sessionId, title: "mine" }, options),
    deleteSession: () => client.deleteSession({ sessionId }, options).catch(unlessRunning),
  };
  const hidden: string[] = [];
  for (const [name, call] of Object.entries(calls))
    await call().catch((thrown: unknown) => {
      const { code, rawMessage } = thrown as ConnectError;
      if (code !== Code.NotFound || rawMessage !== `There is no session ${sessionId}.`) throw thrown;
      hidden.push(name);
    });
  return hidden;
}

describe("a session of somebody else", () => {
  it("is not there for another developer of the organization, nor for an approver", async () => {
    expect(await hiddenFrom(bob("developer", "approver"))).toEqual([...READS, ...RUNS]);
  });

  it("can be read by a security auditor, who starts and cancels nothing there", async () => {
    expect(await hiddenFrom(bob("developer", "security-auditor"))).toEqual(RUNS);
  });

  it("can be used by an admin of the same organization, and of no other", async () => {
    expect(await hiddenFrom(bob("admin"))).toEqual([]);
    expect(await hiddenFrom({ ...bob("admin", "security-auditor"), organization: "other" })).toEqual([...READS, ...RUNS]);
  });

  it("is not in the list of one's own", async () => {
    await test.ask("q");
    const { sessions } = await test.orchestrator.client.listSessions({}, await test.orchestrator.as(bob("admin")));
    // Forks are one's own.
    expect(sessions.filter(({ forkedFrom }) => forkedFrom === "")).toEqual([]);
  });
});
