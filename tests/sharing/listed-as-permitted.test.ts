import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresGrantStore } from "@hlvm/service-orchestrator/src/adapters/postgres/postgres-grant-store.ts";
import { PostgresSessionStore } from "@hlvm/service-orchestrator/src/adapters/postgres/postgres-session-store.ts";
import { SESSION_RIGHTS } from "@hlvm/service-orchestrator/src/domain/sharing/session-grant.ts";
import { beginTestRun } from "@hlvm/service-orchestrator/src/testing/begin-test-run.ts";
import { PostgresShareStore } from "@hlvm/service-policy/src/adapters/postgres/postgres-share-store.ts";
import { workspaceUse } from "@hlvm/service-policy/src/domain/sharing/workspace-use.ts";
import { createTestDatabase } from "@hlvm/testing/create-test-database";

const migrationsOf = (service: string): string => fileURLToPath(new URL(`../../services/${service}/migrations`, import.meta.url));
const HOUR_MILLISECONDS = 3_600_000;
const ALL = { words: [], archived: "without", workspace: "", model: "", withWorkers: false, workersOf: "" } as const;

let orchestrator: Awaited<ReturnType<typeof createTestDatabase>>;
let policy: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  [orchestrator, policy] = await Promise.all([
    createTestDatabase(migrationsOf("orchestrator")),
    createTestDatabase(migrationsOf("policy"), "hlvm_policy"),
  ]);
});
afterAll(() => Promise.all([orchestrator.drop(), policy.drop()]));

const given = fc.record({
  to: fc.oneof(
    fc.record({ kind: fc.constant("member" as const), subject: fc.constantFrom("user:bob", "user:eve", "red") }),
    fc.record({ kind: fc.constant("team" as const), subject: fc.constantFrom("red", "blue", "user:bob") }),
    fc.record({ kind: fc.constant("organization" as const), subject: fc.constant("") }),
  ),
  right: fc.constantFrom(...SESSION_RIGHTS),
  hours: fc.constantFrom(undefined, 1, -1),
  isTakenBack: fc.boolean(),
});
const reader = fc.record({
  id: fc.constantFrom("user:bob", "user:eve"),
  teams: fc.subarray(["red", "blue"]),
  organization: fc.constantFrom("local", "local", "other"),
});

describe("a list of sessions", () => {
  it("has those of others that Cedar lets somebody see, and no other; and who drives one drives its workspace", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(given, { maxLength: 5 }), reader, async (some, { id, teams, organization }) => {
        const store = new PostgresSessionStore(orchestrator.database, randomUUID(), () => undefined, { of: async () => teams });
        const grants = new PostgresGrantStore(orchestrator.database);
        const shares = new PostgresShareStore(policy.database);
        const { sessionId } = await beginTestRun(store);
        const shared = { organization: "local", sessionId };
        const event = { kind: "session_shared", at: new Date().toISOString(), organization: "local", principal: "user:ada" } as const;
        for (const { to, right, hours, isTakenBack } of some) {
          const until = hours === undefined ? undefined : new Date(Date.now() + hours * HOUR_MILLISECONDS);
          await shares.put(shared, "user:ada", { ...to, right, until }, event);
          await grants.put("local", sessionId, { ...to, right, until, grantedBy: "user:ada" });
          if (!isTakenBack) continue;
          await shares.remove(shared, to, event);
          await grants.remove(sessionId, to);
        }
        const found = await shares.find({ organization, sessionId });
        const permitted = found && workspaceUse(found.shares, { id, teams });
        const { sessions } = await store.listFor({ organization, id }, ALL, 500);
        expect(sessions.some((session) => session.sessionId === sessionId)).toBe(permitted !== undefined);
        const right = await store.rightTo(sessionId, { organization, id, teams, roles: [] });
        expect(right === "drive" || right === "own").toBe(permitted === "drive");
      }),
      { numRuns: 60 },
    );
  });
});
