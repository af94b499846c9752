import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { DelegationSigner } from "@hlvm/identity/delegation-signer";
import type { Principal } from "@hlvm/identity/principal";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import type { ServiceName } from "@hlvm/identity/service-name";
import { createSigningKey, readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { GenerateRequestSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PermissionMode, PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Event, RunStopped } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type {
  CancelRunResponse,
  StartRunRequest,
  StartRunRequestSchema,
  StartRunResponse,
  UndoToTurnRequestSchema,
  UndoToTurnResponse,
} from "@hlvm/proto/hlvm/session/v1/session_pb";
import { BudgetScope, type PutBudgetRequestSchema, type PutBudgetResponse } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { testLog } from "@hlvm/testing/test-log";
import { valuesOf } from "./event-values.ts";
import { startFakeServices, type FakeServices } from "./fake-services.ts";
import { startOrchestratorProcess, type OrchestratorProcess } from "./orchestrator-process.ts";
import { say } from "./say.ts";

export const ada: Principal = { organization: "local", id: "user:ada", roles: ["developer"] };

export type RunRequest = Exclude<MessageInitShape<typeof StartRunRequestSchema>, StartRunRequest>;
export type RunSettings = Partial<Omit<StartRunRequest, "$typeName">>;

export interface FinishedRun {
  readonly sessionId: string;
  readonly runId: string;
  /** The number of its first event. */
  readonly sequence: bigint;
  readonly events: readonly Event[];
  readonly stopped: RunStopped;
  /** What the tools said, in the order in which the log has it. */
  readonly results: readonly ToolResult[];
}

export interface TestOrchestrator {
  readonly fake: FakeServices;
  orchestrator: OrchestratorProcess;
  /** Starts another process on the same database. */
  readonly startProcess: () => Promise<OrchestratorProcess>;
  /** The model's answers, one for each request that differs from those before; the last one again and again. */
  readonly answers: (...all: Parameters<typeof say>[]) => void;
  /** A request as the edge hands it on for that person: with ids, and what they let the run do. */
  readonly asEdge: (request: RunRequest, principal?: Principal) => RunRequest;
  /** What the edge signs where the person of a run accepts a plan with a mode. */
  readonly signFor: (run: Pick<StartRunResponse, "sessionId" | "runId">, mode: PermissionMode, principal?: Principal) => string;
  /** An undo as the edge hands it on. */
  readonly undo: (request: MessageInitShape<typeof UndoToTurnRequestSchema>, principal?: Principal) => Promise<UndoToTurnResponse>;
  /** The change of a budget as the edge hands it on. */
  readonly putBudget: (request: MessageInitShape<typeof PutBudgetRequestSchema>, principal: Principal) => Promise<PutBudgetResponse>;
  readonly ask: (prompt: string, more?: RunSettings) => Promise<StartRunResponse>;
  /** Follows the log up to the first event for which `isLast` holds; the run's end if left out. */
  readonly watch: (sessionId: string, from?: bigint, isLast?: (event: Event) => boolean) => Promise<Event[]>;
  /** Asks, and waits for the run's end. */
  readonly run: (prompt?: string, more?: RunSettings) => Promise<FinishedRun>;
  readonly cancel: (run: Pick<StartRunResponse, "sessionId" | "runId">, through?: OrchestratorProcess) => Promise<CancelRunResponse>;
  readonly stop: () => Promise<void>;
}

const isRunStopped = (event: Event): boolean => event.payload.case === "runStopped";

/** A real orchestrator with a real database, and around it services that do what the test says. */
export async function startTestOrchestrator(
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<TestOrchestrator> {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-orchestrator-"));
  const edge = await createSigningKey("edge");
  const own = await createSigningKey("orchestrator");
  const write = (name: string, value: unknown): string => {
    writeFileSync(join(folder, name), JSON.stringify(value), { mode: 0o600 });
    return join(folder, name);
  };
  const publicKeys = write("public.json", { keys: [edge.publicJwk, own.publicJwk] });
  const edgeKey = readSigningKey(write("edge.json", edge.privateJwk));
  const minter = new TokenMinter(edgeKey);
  const delegations = new DelegationSigner(edgeKey);
  const verifier = (service: ServiceName): TokenVerifier => new TokenVerifier(service, readPublicKeys(publicKeys));
  const fake = await startFakeServices(verifier, testLog);
  const environment = {
    HLVM_DATABASE_URL: databaseUrl,
    HLVM_TOKEN_PUBLIC_KEYS: publicKeys,
    HLVM_TOKEN_SIGNING_KEY: write("own.json", own.privateJwk),
    HLVM_MODEL_GATEWAY_URL: fake.urls["model-gateway"],
    HLVM_POLICY_URL: fake.urls.policy,
    HLVM_SANDBOX_URL: fake.urls.sandbox,
    HLVM_MEMORY_URL: fake.urls.memory,
    ...settings,
  };
  const startProcess = (): Promise<OrchestratorProcess> => startOrchestratorProcess(environment, minter);
  const cleanUp = async (): Promise<void> => {
    await fake.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const test: TestOrchestrator = {
    fake,
    orchestrator: await startProcess().catch(async (cause: unknown) => {
      await cleanUp();
      throw cause;
    }),
    startProcess,
    answers: (...all) => {
      // A request that is sent once more, since its connection or its process was lost, gets the answer that it had.
      const places = new Map<string, number>();
      let repeated = 0;
      fake.behaviour.generate = (request, call) => {
        const key = Buffer.from(toBinary(GenerateRequestSchema, request)).toString("base64");
        if (places.has(key)) repeated++;
        else places.set(key, call - repeated);
        return say(...all[Math.min(places.get(key)!, all.length) - 1]!);
      };
    },
    asEdge: (request, principal = ada) => {
      const newSessionId = request.sessionId ? "" : randomUUID();
      const runId = randomUUID();
      const settings = create(PermissionSettingsSchema, request.settings);
      const delegation = delegations.sign({ principal, sessionId: request.sessionId || newSessionId, runId, settings });
      return { ...request, newSessionId, runId, delegation };
    },
    signFor: ({ sessionId, runId }, mode, principal = ada) =>
      delegations.sign({ principal, sessionId, runId, settings: create(PermissionSettingsSchema, { mode, canAsk: true }) }),
    undo: async (request, principal = ada) => {
      const runId = randomUUID();
      const sessionId = request.sessionId ?? "";
      const delegation = delegations.sign({ principal, sessionId, runId, settings: create(PermissionSettingsSchema) });
      return test.orchestrator.client.undoToTurn({ sessionId, ...request, runId, delegation }, await test.orchestrator.as(principal));
    },
    putBudget: async (request, principal) => {
      const [sessionId, runId] = [request.scope === BudgetScope.SESSION ? request.subject! : randomUUID(), randomUUID()];
      const delegation = delegations.sign({ principal, sessionId, runId, settings: create(PermissionSettingsSchema) });
      return test.orchestrator.spending.putBudget({ ...request, sessionId, runId, delegation }, await test.orchestrator.as(principal));
    },
    ask: async (prompt, more = {}) => {
      const request = {
        prompt,
        workspace: more.sessionId === undefined ? "/work" : "",
        settings: { mode: PermissionMode.DEFAULT, canAsk: true },
        ...more,
      };
      return test.orchestrator.client.startRun(test.asEdge(request), await test.orchestrator.as(ada));
    },
    watch: async (sessionId, from = 1n, isLast = isRunStopped) => {
      const events: Event[] = [];
      const options = await test.orchestrator.as(ada);
      const cancelled = new AbortController();
      const watching = { ...options, signal: cancelled.signal };
      try {
        for await (const response of test.orchestrator.client.watch({ sessionId, fromSequence: from, follow: true }, watching)) {
          events.push(...response.events);
          if (response.events.some(isLast)) break;
        }
      } finally {
        cancelled.abort();
      }
      return events;
    },
    run: async (prompt = "What is this?", more = {}) => {
      const { sessionId, runId, sequence } = await test.ask(prompt, more);
      const events = await test.watch(sessionId, sequence);
      const results = valuesOf(events, "toolEnd").map(({ result }) => result!);
      return { sessionId, runId, sequence, events, stopped: valuesOf(events, "runStopped")[0]!, results };
    },
    cancel: async ({ sessionId, runId }, through = test.orchestrator) =>
      through.client.cancelRun({ sessionId, runId }, await through.as(ada)),
    stop: async () => {
      await test.orchestrator.stop();
      await cleanUp();
    },
  };
  return test;
}
