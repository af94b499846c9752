import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { SESSION_RIGHTS, rightOf, type SessionGrant } from "../../domain/sharing/session-grant.ts";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import { PostgresGrantStore } from "./postgres-grant-store.ts";
import { PostgresSessionStore } from "./postgres-session-store.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const HOUR = 3_600_000;
const ALL = { words: [], archived: "without", workspace: "", model: "", withWorkers: false, workersOf: "" } as const;

let test: Awaited<ReturnType<typeof createTestDatabase>>;
let teams: readonly string[];
let store: PostgresSessionStore;
let grants: PostgresGrantStore;

beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
  const asked = { of: () => Promise.resolve(teams) };
  store = new PostgresSessionStore(test.database, randomUUID(), () => undefined, asked);
  grants = new PostgresGrantStore(test.database);
});
afterAll(() => test.drop());

const grantee = fc.oneof(
  fc.record({ kind: fc.constant("member" as const), subject: fc.constantFrom("user:bob", "user:eve", "user:ada", "red") }),
  fc.record({ kind: fc.constant("team" as const), subject: fc.constantFrom("red", "blue", "user:bob") }),
  fc.record({ kind: fc.constant("organization" as const), subject: fc.constant("") }),
);
const given = fc.record({
  to: grantee,
  right: fc.constantFrom(...SESSION_RIGHTS),
  hours: fc.constantFrom(undefined, 1, -1),
});

describe("grants in the database", () => {
  it("give whom they reach what the rules say, and list the session for them and nobody else", async () => {
    const reader = fc.record({
      id: fc.constantFrom("user:bob", "user:eve"),
      teams: fc.subarray(["red", "blue"]),
      organization: fc.constantFrom("local", "local", "local", "other"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(given, { maxLength: 5 }), reader, async (some, { id, teams: in_, organization }) => {
        teams = in_;
        const { sessionId } = await beginTestRun(store);
        const kept = new Map<string, SessionGrant>();
        for (const { to, right, hours } of some) {
          const until = hours === undefined ? undefined : new Date(Date.now() + hours * HOUR);
          kept.set(JSON.stringify(to), await grants.put("local", sessionId, { ...to, right, grantedBy: "user:ada", until }));
        }
        const principal = { organization, id, teams: in_, roles: [] };
        const expected = organization === "local" ? rightOf([...kept.values()], principal, new Date()) : undefined;
        expect(await store.rightTo(sessionId, principal)).toBe(expected);
        const { sessions } = await store.listFor({ organization, id }, ALL, 500);
        expect(sessions.some((session) => session.sessionId === sessionId)).toBe(expected !== undefined);
        expect((await grants.list(sessionId)).every(({ until }) => until === undefined || until > new Date())).toBe(true);
        await test.database.query("DELETE FROM session_grant", []);
      }),
      { numRuns: 60 },
    );
  });
});
