import { randomUUID } from "node:crypto";
import { once, EventEmitter } from "node:events";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter, Interceptor } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import {
  AuditKind,
  AuditService,
  type AggregateResponseSchema,
  type AuditEventSchema,
  type QueryRequest,
} from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { PolicyService, type AnswerApprovalRequest, type ApprovalSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import {
  SandboxService,
  type BackgroundProcessSchema,
  type ChangedFileSchema,
  type GetChangesResponseSchema,
} from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { EventSchema, StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import {
  SessionService,
  type GetContextResponseSchema,
  type ListSessionsRequest,
  type StartRunRequest,
  type WatchRequest,
} from "@hlvm/proto/hlvm/session/v1/session_pb";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { testLog } from "@hlvm/testing/test-log";
import { ScriptedTrust } from "./scripted-trust.ts";

export const TOKEN = "a-token-for-the-test";

type Payload = NonNullable<MessageInitShape<typeof EventSchema>["payload"]>;

/** What an agent would do: appends to the log, and waits for what people do. */
export type Script = (edge: ScriptedEdge) => Promise<void>;

/** A real server of the public contracts over HTTP/2, whose runs are played from a script. */
export class ScriptedEdge {
  readonly sessionId = randomUUID();
  readonly runId = randomUUID();
  readonly requests: StartRunRequest[] = [];
  readonly watches: WatchRequest[] = [];
  readonly answers: AnswerApprovalRequest[] = [];
  refusesMessages = false;
  /** The run's model takes none. */
  refusesFiles = false;
  /** What was said to the run while it went on. */
  readonly messages: { text: string; interrupt: boolean; attached?: string[] }[] = [];
  readonly lists: ListSessionsRequest[] = [];
  /** What was asked for besides runs, in order: the method, and what it was given. */
  readonly changes: (readonly [method: string, given: object])[] = [];
  /** What policy has to be approved. */
  readonly approvals: MessageInitShape<typeof ApprovalSchema>[] = [];
  readonly audit: MessageInitShape<typeof AuditEventSchema>[] = [];
  /** What was asked of the audit log. */
  readonly audited: QueryRequest[] = [];
  counts: MessageInitShape<typeof AggregateResponseSchema> = {};
  readonly processes: MessageInitShape<typeof BackgroundProcessSchema>[] = [];
  /** What a session changed in a workspace of its own. */
  /** Answered to who asks for any workspace. */
  untoldChanges: Pick<MessageInitShape<typeof GetChangesResponseSchema>, "leftOut" | "leftOutChanges" | "furtherChanges"> = {};
  readonly changedFiles: MessageInitShape<typeof ChangedFileSchema>[] = [];
  readonly #log: Event[] = [];
  readonly #happened = new EventEmitter();
  readonly #script: Script;
  #running = false;
  /** Breaks the connection of a watcher after so many events, once. */
  cutAfter: number | undefined;
  /** A watcher gets no event behind this one. */
  stallsAfter = Infinity;
  /** So many sessions are listed, all the same. */
  sessionCount = 1;
  readonly trust = new ScriptedTrust();
  /** Says why a run is not begun, where it is not. */
  refuseRun: ((request: StartRunRequest) => HlvmError | undefined) | undefined;
  /** What the model is said to have before it. */
  context: MessageInitShape<typeof GetContextResponseSchema> = {};
  url = "";
  close: () => Promise<void> = async () => {};

  constructor(script: Script) {
    this.#script = script;
    this.#happened.setMaxListeners(0);
  }

  async start(): Promise<void> {
    const authenticate: Interceptor = (next) => (request) => {
      if (request.header.get("authorization") === `Bearer ${TOKEN}`) return next(request);
      throw new HlvmError({
        code: "unauthenticated",
        reason: "token_refused",
        message: "The token is not accepted.",
        advice: "Give the right one.",
      });
    };
    const server = await startRpcServer({
      host: "127.0.0.1",
      port: 0,
      log: testLog,
      routes: (router) => this.#routes(router),
      services: [],
      authenticate,
    });
    this.url = `http://127.0.0.1:${server.port}`;
    this.close = server.close;
  }

  append(payload: Payload, turn = 1): void {
    const sequence = BigInt(this.#log.length + 1);
    const { sessionId, runId } = this;
    this.#log.push(create(EventSchema, { sessionId, runId, sequence, turn, principal: "user:test", at: timestampNow(), payload }));
    if (payload.case === "runStopped") this.#running = false;
    this.#happened.emit("event");
  }

  stop(reason: StopReason, rest: { text?: string; message?: string; advice?: string } = {}): void {
    this.append({ case: "runStopped", value: { reason, ...rest, turns: 1, toolCalls: 0, durationMilliseconds: 5 } });
  }

  /** Resolves when a person has done it. */
  async until(what: "cancelled" | "answered" | "watched" | "sent"): Promise<void> {
    await once(this.#happened, what);
  }

  /** What runs asked for so far. */
  #asked(): MessageInitShape<typeof ApprovalSchema>[] {
    return this.#log.flatMap(({ payload }) => {
      const check =
        payload.case === "workerPermission" ? payload.value.check : payload.case === "permissionCheck" ? payload.value : undefined;
      return check?.approval === undefined ? [] : [check.approval];
    });
  }

  /** As if a colleague had answered on the web page. */
  answeredElsewhere(): void {
    this.#happened.emit("answered");
  }

  #routes(router: ConnectRouter): void {
    router.service(SessionService, {
      startRun: (request) => {
        const refused = this.refuseRun?.(request);
        if (refused !== undefined) throw refused;
        this.requests.push(request);
        this.#running = true;
        this.append({ case: "userMessage", value: { text: request.prompt } }, 0);
        void this.#script(this);
        return { sessionId: this.sessionId, runId: this.runId, sequence: 1n, model: request.model || "scripted/one" };
      },
      sendMessage: ({ text, interrupt, attachments }) => {
        if (!this.#running || this.refusesMessages)
          throw new HlvmError({ code: "failed_precondition", reason: "no_run", message: "No run is going on." });
        if (this.refusesFiles && attachments.length > 0)
          throw new HlvmError({ code: "failed_precondition", reason: "attachment_not_taken", message: "m takes no images." });
        this.messages.push({ text, interrupt, ...(attachments.length > 0 ? { attached: attachments.map(({ path }) => path) } : {}) });
        const named = attachments.map(({ path, data }) => ({ path, mediaType: "image/png", width: 1, height: 1, size: data.length }));
        this.append({ case: "messageQueued", value: { text, interrupts: interrupt, attachments: named } }, 0);
        const sequence = BigInt(this.#log.length);
        this.#happened.emit("sent");
        return { runId: this.runId, sequence };
      },
      watch: (request, { signal }) => this.#watch(request, signal),
      cancelRun: () => {
        this.#happened.emit("cancelled");
        return { cancelled: true };
      },
      getSession: () => ({ session: this.#session() }),
      getContext: () => this.context,
      updateSession: ({ sessionId, title, archived }) => {
        this.changes.push(["updateSession", { sessionId, title, archived }]);
        return { session: { ...this.#session(), title: title ?? "a title", archived } };
      },
      deleteSession: ({ sessionId }) => {
        this.changes.push(["deleteSession", { sessionId }]);
        return {};
      },
      exportSession: async function* ({ format }) {
        yield { text: `format ${format}, ` };
        yield { text: "\u001b[2J the rest\n" };
      },
      importSession: ({ ndjson, workspace }) => {
        this.changes.push(["importSession", { ndjson, workspace }]);
        return { session: { ...this.#session(), imported: true, lastStopReason: StopReason.UNSPECIFIED } };
      },
      undoToTurn: ({ sessionId, toTurn, preview, overwrite, acceptIncomplete }) => {
        if (!preview && !acceptIncomplete && toTurn === 0)
          throw new HlvmError({ code: "failed_precondition", reason: "undo_incomplete", message: "Not all would go back." });
        this.changes.push(["undoToTurn", { sessionId, toTurn, preview, overwrite }]);
        return {
          turns: [{ turn: toTurn + 1, summary: "made\u001b[2J it" }],
          paths: [
            { path: "made", action: 3 },
            { path: "by\nhand", action: 2, changedByOthers: true },
          ],
          pathCount: 2,
          incomplete: toTurn === 0,
        };
      },
      forkSession: ({ sessionId, atSequence }) => {
        this.changes.push(["forkSession", { sessionId, atSequence }]);
        return { session: { ...this.#session(), forkedFrom: sessionId, forkedAtSequence: atSequence } };
      },
      listSessions: (request) => {
        this.lists.push(request);
        const { limit, pageToken, text } = request;
        const from = Number(pageToken);
        const end = Math.min(from + limit, this.sessionCount);
        const sessions = Array.from({ length: end - from }, () => this.#session());
        const excerpts = text === "" ? [] : sessions.map(() => `…said ${text}`);
        return { sessions, excerpts, nextPageToken: end < this.sessionCount ? String(end) : "" };
      },
    });
    router.service(PolicyService, {
      listApprovals: (request) => {
        this.changes.push(["listApprovals", request]);
        return { approvals: this.approvals };
      },
      answerApprovals: (request) => {
        this.changes.push(["answerApprovals", request]);
        const answered = request.approvals.map(({ approvalId }) => {
          const approval = this.approvals.find((one) => one.approvalId === approvalId);
          return { approvalId, approval, ...(approval === undefined ? { refusedReason: "gone", refusedMessage: "It is gone." } : {}) };
        });
        return { answered };
      },
      getApproval: ({ approvalId }) => ({ approval: [...this.approvals, ...this.#asked()].find((one) => one.approvalId === approvalId) }),
      answerApproval: (request) => {
        this.answers.push(request);
        this.#happened.emit("answered");
        return {};
      },
    });
    this.trust.routes(router);
    router.service(SandboxService, {
      readInstructions: ({ path, sessionId }) => this.trust.found(path || `copy:${sessionId}`),
      getChanges: ({ anyWorkspace }) => ({ files: this.changedFiles, ...(anyWorkspace ? this.untoldChanges : {}) }),
      listProcesses: () => ({ processes: this.processes }),
      stopProcess: ({ processId }) => ({
        process: { ...this.processes.find((one) => one.processId === processId)!, end: "it was stopped" },
      }),
    });
    router.service(AuditService, {
      query: (request) => {
        this.audited.push(request);
        const { kind, limit, beforeId } = request;
        const events = this.audit.filter((event) => kind === AuditKind.UNSPECIFIED || event.kind === kind);
        const from = Number(beforeId);
        // Pages are told apart by how far they are where a test has more events than fit.
        const next = from + limit < events.length ? BigInt(from + limit) : 0n;
        return { events: events.slice(from, from + limit), nextBeforeId: next };
      },
      aggregate: ({ query }) => {
        this.audited.push(query!);
        return this.counts;
      },
      sessionTimeline: () => ({ events: this.audit }),
      tail: ({ query, afterId }, { signal }) => this.#tail(query!, afterId, signal),
    });
  }

  #session() {
    return {
      sessionId: this.sessionId,
      title: "a title",
      lastSequence: BigInt(this.#log.length),
      runningRunId: this.#running ? this.runId : "",
      lastStopReason: this.#running ? StopReason.UNSPECIFIED : StopReason.COMPLETED,
    };
  }

  /** One event and then the end, each time it is asked: a client has to come again for the next. */
  async *#tail(query: QueryRequest, afterId: bigint, signal: AbortSignal): AsyncGenerator<{ events: typeof ScriptedEdge.prototype.audit }> {
    this.audited.push(query);
    const next = this.audit.find(({ id }) => (id ?? 0n) > afterId);
    if (next === undefined) await once(signal, "abort");
    else yield { events: [next] };
  }

  async *#watch(request: WatchRequest, signal: AbortSignal): AsyncGenerator<{ events: Event[] }> {
    this.watches.push(request);
    this.#happened.emit("watched");
    for (let next = Math.max(Number(request.fromSequence), 1); !signal.aborted; next += 1) {
      while (this.#log.length < next || next > this.stallsAfter) {
        if (!request.follow && next <= this.stallsAfter) return;
        await once(this.#happened, "event", { signal });
      }
      if (this.cutAfter !== undefined && next > this.cutAfter) {
        this.cutAfter = undefined;
        throw new HlvmError({ code: "unavailable", reason: "cut", message: "The connection was cut for the test." });
      }
      yield { events: [this.#log[next - 1]!] };
    }
  }
}
