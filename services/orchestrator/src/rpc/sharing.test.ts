import { randomUUID } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Principal } from "@hlvm/identity/principal";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ExportFormat } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { SessionRight, type SessionGrantSchema } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { valuesOf } from "../testing/event-values.ts";
import { pauseModel } from "../testing/pause-model.ts";
import { readCall } from "../testing/read-call.ts";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();
const bob: Principal = { ...ada, id: "user:bob" };
const rob: Principal = { ...ada, id: "user:rob" };
const eve: Principal = { ...ada, id: "user:eve" };
const elsewhere: Principal = { ...bob, organization: "other" };

type Grant = Exclude<MessageInitShape<typeof SessionGrantSchema>, { $typeName: string }>;
type To = NonNullable<Grant["to"]>;
const toBob: To = { case: "principal", value: "user:bob" };
const as = (who: Principal) => test.orchestrator.as(who);

/** A change as the edge hands it on. */
const change = (sessionId: string, grant: Grant, who = ada) => {
  const { runId, delegation } = test.asEdge({ sessionId }, who);
  return { sessionId, grant, runId, delegation } as const;
};
const share = async (sessionId: string, right: SessionRight, to: To = toBob, more: object = {}, who = ada) =>
  test.orchestrator.sharing.putGrant(change(sessionId, { to, right, ...more }, who), await as(who));
const unshare = async (sessionId: string, to: To = toBob, who = ada) =>
  test.orchestrator.sharing.removeGrant(change(sessionId, { to }, who), await as(who));

const take = async (sessionId: string, who = bob) => {
  const { runId, delegation } = test.asEdge({ sessionId }, who);
  return test.orchestrator.sharing.takeSession({ sessionId, runId, delegation }, await as(who));
};

/** What somebody may do with a session, tried out. */
async function uses(sessionId: string, who = bob): Promise<string[]> {
  const { client, sharing } = test.orchestrator;
  const options = await as(who);
  const tried: Readonly<Record<string, () => Promise<unknown>>> = {
    read: () => client.getSession({ sessionId }, options),
    events: () => client.readEvents({ sessionId }, options),
    fork: () => client.forkSession({ sessionId }, options),
    comment: () => sharing.comment({ sessionId, text: "hm" }, options),
    drive: () => client.cancelRun({ sessionId, runId: randomUUID() }, options),
    ask: () => client.startRun(test.asEdge({ sessionId, prompt: "x", settings: { mode: PermissionMode.DEFAULT } }, who), options),
    rename: () => client.updateSession({ sessionId, title: "mine" }, options),
    undo: () => test.undo({ sessionId, toTurn: 0 }, who),
    share: () => share(sessionId, SessionRight.DRIVE, toBob, {}, who),
    delete: () => client.deleteSession({ sessionId }, options),
    take: () => take(sessionId, who),
  };
  const may: string[] = [];
  for (const [use, attempt] of Object.entries(tried)) {
    const message = await attempt().then(
      () => "",
      (thrown: Error) => thrown.message,
    );
    // There is no such run to cancel; that it may be tried is what counts.
    if (!/There is no session|has not offered/.test(message)) may.push(use);
  }
  return may;
}

describe("a session that is shared", () => {
  it("may be used as its grant says, each right containing the ones before, and no further", async () => {
    test.answers(["Done."]);
    const { sessionId } = await test.run();
    // What it may do is what counts here, and no further run.
    test.fake.behaviour.openWorkspace = () => {
      throw new Error("not now");
    };
    expect(await uses(sessionId)).toEqual([]);
    const read = ["read", "events", "fork"];
    for (const [right, may] of [
      [SessionRight.VIEW, read],
      [SessionRight.COMMENT, [...read, "comment"]],
      [SessionRight.DRIVE, [...read, "comment", "drive", "ask", "undo"]],
    ] as const) {
      await share(sessionId, right);
      expect(await uses(sessionId)).toEqual(may);
    }
    expect(await uses(sessionId, elsewhere)).toEqual([]);
    expect(await uses(sessionId, eve)).toEqual([]);
    expect(await unshare(sessionId)).toMatchObject({ existed: true });
    expect(await uses(sessionId)).toEqual([]);
    expect(await unshare(sessionId)).toMatchObject({ existed: false });
  });

  it("reaches teams and the organization, is over at its time, and is listed for whom it reaches", async () => {
    test.fake.behaviour.teams = (principal) => (principal === "user:rob" ? ["red"] : []);
    test.answers(["Done."]);
    const { sessionId } = await test.run("find the needle");
    const listed = async (who = rob, text = "") =>
      (await test.orchestrator.client.listSessions({ text, limit: 500 }, await as(who))).sessions.some(
        (one) => one.sessionId === sessionId,
      );
    expect([await listed(ada), await listed(), await listed(rob, "needle")]).toEqual([true, false, false]);
    await share(sessionId, SessionRight.VIEW, { case: "team", value: "red" });
    expect([await listed(), await listed(rob, "needle"), await listed(eve), await listed(elsewhere)]).toEqual([true, true, false, false]);
    await share(sessionId, SessionRight.VIEW, { case: "everybody", value: {} });
    expect([await listed(eve), await listed(elsewhere)]).toEqual([true, false]);
    const until = timestampFromDate(new Date(Date.now() + 300));
    await unshare(sessionId, { case: "everybody", value: {} });
    await share(sessionId, SessionRight.VIEW, { case: "principal", value: "user:eve" }, { until });
    await expect.poll(() => listed(eve)).toBe(false);
    await expect(share(sessionId, SessionRight.VIEW, toBob, { until })).rejects.toThrow(/is over already/);
  });

  it("is on record before it counts, and is not shared where that cannot be recorded", async () => {
    test.answers(["Done."]);
    const { sessionId } = await test.run();
    const recorded: string[] = [];
    test.fake.behaviour.recordSharing = ({ to, right }, removed) => void recorded.push(`${removed} ${String(to.value)} ${right}`);
    await share(sessionId, SessionRight.COMMENT);
    await unshare(sessionId);
    expect(recorded).toEqual([`false user:bob ${SessionRight.COMMENT}`, `true user:bob ${SessionRight.VIEW}`]);
    test.fake.behaviour.recordSharing = () => {
      throw new Error("no audit log");
    };
    await expect(share(sessionId, SessionRight.VIEW)).rejects.toThrow();
    expect(await uses(sessionId)).toEqual([]);
  });

  it("is steered by who drives it, and its run goes on as whoever started it", async () => {
    pauseModel(test.fake.behaviour);
    const asked = await test.ask("Think");
    await share(asked.sessionId, SessionRight.DRIVE);
    await test.watch(asked.sessionId, asked.sequence, ({ payload }) => payload.case === "messageDelta");
    test.answers(["Another way."]);
    await test.orchestrator.client.sendMessage({ sessionId: asked.sessionId, text: "Another way", interrupt: true }, await as(bob));
    const events = await test.watch(asked.sessionId, asked.sequence);
    expect(valuesOf(events, "userMessage").map(({ author }) => author)).toEqual(["", "user:bob"]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    expect(test.fake.seen.principals).toEqual(new Set(["local/user:ada"]));
  });

  it("is gone on with by who drives it, as themselves, in the workspace of its owner", async () => {
    test.answers(["Done."]);
    const { sessionId } = await test.run();
    await share(sessionId, SessionRight.DRIVE);
    test.fake.reset();
    const granted: string[] = [];
    test.fake.behaviour.grantWorkspace = (asked) => `granted ${granted.push(asked)}`;
    test.answers(["", [readCall("a.txt")]], ["Read."]);
    const asked = test.asEdge({ sessionId, prompt: "And now?", settings: { mode: PermissionMode.DEFAULT } }, bob);
    const { sequence } = await test.orchestrator.client.startRun(asked, await as(bob));
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    expect(test.fake.seen.principals).toEqual(new Set(["local/user:bob"]));
    // Asked for once, and shown to the sandbox with every call.
    expect(granted).toEqual([sessionId]);
    expect(test.fake.seen.workspaceGrants).toEqual(new Set(["granted 1"]));
  });

  it("is not gone on with where policy knows of no share, whatever the orchestrator has", async () => {
    test.answers(["Done."]);
    const { sessionId } = await test.run();
    await share(sessionId, SessionRight.DRIVE);
    test.fake.behaviour.grantWorkspace = () => "";
    const asked = test.asEdge({ sessionId, prompt: "And now?", settings: { mode: PermissionMode.DEFAULT } }, bob);
    await expect(test.orchestrator.client.startRun(asked, await as(bob))).rejects.toThrow(/belongs to user:ada, who has not shared it/);
  });

  it("is whoever's takes it, once its owner offered it to them, and no administrator's to share", async () => {
    test.answers(["Done."]);
    const { sessionId } = await test.run();
    await share(sessionId, SessionRight.DRIVE);
    await expect(take(sessionId)).rejects.toThrow(/has not offered session/);
    await expect(share(sessionId, SessionRight.OWN, { case: "team", value: "red" })).rejects.toThrow(/one other person/);
    await expect(share(sessionId, SessionRight.OWN, { case: "principal", value: "user:ada" })).rejects.toThrow(/one other person/);
    const admin: Principal = { ...eve, roles: ["admin"] };
    await expect(share(sessionId, SessionRight.VIEW, toBob, {}, admin)).rejects.toThrow(/is shared by its owner, user:ada/);
    await share(sessionId, SessionRight.OWN);
    expect(await take(sessionId)).toMatchObject({ formerOwner: "user:ada" });
    expect(await take(sessionId)).toMatchObject({ formerOwner: "" });
    const { client, sharing } = test.orchestrator;
    expect((await client.getSession({ sessionId }, await as(bob))).session).toMatchObject({ owner: "user:bob" });
    expect((await sharing.listGrants({ sessionId }, await as(bob))).grants).toMatchObject([
      { to: { value: "user:ada" }, right: SessionRight.DRIVE, grantedBy: "user:bob" },
    ]);
    await expect(client.deleteSession({ sessionId }, await as({ ...ada, roles: ["developer"] }))).rejects.toThrow(/There is no session/);
    const { events } = await client.readEvents({ sessionId }, await as(bob));
    expect(valuesOf(events, "sessionTaken")).toMatchObject([{ formerOwner: "user:ada" }]);
    // The sandbox goes on to know the workspace under its first owner.
    test.fake.reset();
    test.answers(["Mine."]);
    const asked = test.asEdge({ sessionId, prompt: "Whose?", settings: { mode: PermissionMode.DEFAULT } }, bob);
    await test.watch(sessionId, (await client.startRun(asked, await as(bob))).sequence);
    expect(test.fake.seen.workspaceGrants).toEqual(new Set([`grant for ${sessionId}`]));
  });

  it("stops being followed soon after it is not shared any more", { timeout: 20_000 }, async () => {
    pauseModel(test.fake.behaviour);
    const { sessionId } = await test.ask("Think");
    await share(sessionId, SessionRight.VIEW);
    const { promise: isFollowed, resolve: follows } = Promise.withResolvers<void>();
    const followed = async () => {
      for await (const _ of test.orchestrator.client.watch({ sessionId, follow: true }, await as(bob))) follows();
    };
    const ended = followed().catch((thrown: unknown) => thrown);
    await isFollowed;
    const began = performance.now();
    await unshare(sessionId);
    expect(await ended).toMatchObject({ message: expect.stringContaining("There is no session") });
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});

describe("what people say about a session", () => {
  it("is in its log, also while a run goes on, and never before the model", async () => {
    const release = pauseModel(test.fake.behaviour);
    const asked = await test.ask("Think");
    await test.watch(asked.sessionId, asked.sequence, ({ payload }) => payload.case === "messageDelta");
    const secret = `ghp_${"a1B2".repeat(9)}`;
    await test.orchestrator.sharing.comment({ sessionId: asked.sessionId, text: `Careful with ${secret}` }, await as(ada));
    release();
    const events = await test.watch(asked.sessionId, asked.sequence);
    expect(valuesOf(events, "comment")).toMatchObject([{ text: expect.stringMatching(/^Careful with \[secret: /) }]);
    test.answers(["Yes."]);
    await test.run("and now?", { sessionId: asked.sessionId });
    expect(JSON.stringify(test.fake.seen.requests.at(-1)!.messages.map(({ parts }) => parts.map(({ part }) => part.value)))).not.toContain(
      "Careful",
    );
    await expect(test.orchestrator.sharing.comment({ sessionId: asked.sessionId, text: " \n" }, await as(ada))).rejects.toThrow(
      /says something/,
    );
  });
});

describe("what memory recalled for the one person", () => {
  it("is told to another by its number alone, wherever they look", async () => {
    test.fake.behaviour.recall = () => ({ facts: [{ text: "Ada is allergic to nuts" }] });
    test.answers(["Done."]);
    const { sessionId, sequence } = await test.run();
    await share(sessionId, SessionRight.VIEW);
    const { client } = test.orchestrator;
    const seenBy = async (who: Principal): Promise<string> => {
      const options = await as(who);
      const seen: unknown[] = [(await client.readEvents({ sessionId }, options)).events, await client.getContext({ sessionId }, options)];
      for await (const { events } of client.watch({ sessionId, fromSequence: sequence }, options)) seen.push(events);
      for (const format of [ExportFormat.NDJSON, ExportFormat.MARKDOWN])
        for await (const { text } of client.exportSession({ sessionId, format }, options)) seen.push(text);
      const { session } = await client.forkSession({ sessionId }, options);
      for await (const { events } of client.watch({ sessionId: session!.sessionId }, options)) seen.push(events);
      return JSON.stringify(seen, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value));
    };
    expect(await seenBy(ada)).toContain("nuts");
    expect(await seenBy(bob)).not.toContain("nuts");
    const { events } = await client.readEvents({ sessionId }, await as(bob));
    expect(valuesOf(events, "memoryActivity")).toMatchObject([{ withheld: 1, recalled: [] }]);
  });
});
