import pLimit from "p-limit";
import { StopReason, type WorkerBudget } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { spawnWorker } from "@hlvm/tools/worker-tools";
import type { RunPast } from "../fold/run-past.ts";
import { eventPayload } from "../log/event-payload.ts";
import type { RunContext } from "../loop/run-context.ts";
import type { RunProgress } from "../loop/run-progress.ts";
import type { BegunRun } from "../run/begun-run.ts";
import { isHandOver } from "../run/interruption.ts";
import type { ReadyCall } from "../tools/prepare-call.ts";
import { failedResult } from "../tools/tool-result.ts";
import { beginWorker, type WorkerPorts } from "./begin-worker.ts";
import { carveBudget } from "./carve-budget.ts";
import { followWorker, type WorkerEnd } from "./follow-worker.ts";
import { workerAgent, workerProfiles, type RunAgent } from "./run-agent.ts";
import { workerIds, type WorkerIds } from "./worker-ids.ts";
import { workerResult } from "./worker-result.ts";

/** For a worker that is cancelled with its parent, to come to its end: then the parent's log has that, too. */
const CANCEL_MILLISECONDS = 3_000;

interface Spawning {
  readonly ids: WorkerIds;
  readonly agent: RunAgent;
  readonly task: string;
  readonly budget: WorkerBudget;
  /** Of what the run's own budget has left: the worker gets one. */
  readonly shares: number;
}

/** The workers of one run: what they may use up, how many are at work at once, and what became of them. */
export class RunWorkers {
  readonly #parent: BegunRun;
  readonly #ports: WorkerPorts;
  readonly #progress: RunProgress;
  readonly #turns: number;
  readonly #endsAt: number;
  readonly #limit: ReturnType<typeof pLimit>;
  /** Those that another process started, by the ids of their calls. */
  readonly #known: RunPast["workers"];
  /** Turns that workers have and did not give back yet, by the ids of their calls. */
  #paid: Promise<unknown> = Promise.resolve();
  readonly #reserved = new Map<string, number>();
  /** Calls of the turn in hand that may still start a worker. */
  #awaited = 0;

  /**
   * @param turns that the run may take, its workers' included
   * @param endsAt when the run's time is over, by the clock of `performance`
   */
  constructor(parent: BegunRun, ports: WorkerPorts, progress: RunProgress, turns: number, endsAt: number) {
    this.#parent = parent;
    this.#ports = ports;
    this.#progress = progress;
    this.#turns = turns;
    this.#endsAt = endsAt;
    this.#limit = pLimit(ports.maximumAtOnce);
    this.#known = parent.past?.workers ?? new Map();
    for (const [callId, { budget, isCompleted }] of this.#known) if (!isCompleted) this.#reserved.set(callId, budget.turns);
  }

  /** A turn begins with these calls: what is left is shared among them. */
  beginTurn(tools: readonly string[]): void {
    this.#awaited = tools.filter((tool) => tool === spawnWorker.name).length;
  }

  /** Starts a worker, or finds the one that the call has started, and waits for its end. */
  async spawn({ call, value }: ReadyCall, turn: number, run: RunContext, signal: AbortSignal): Promise<ToolResult> {
    const { callId } = call;
    const depth = (this.#parent.session.worker?.depth ?? 0) + 1;
    const agent = workerAgent(this.#parent.agent, String(value.profile), depth < this.#ports.maximumDepth);
    if (agent === undefined || depth > this.#ports.maximumDepth) return this.#refusal(String(value.profile), depth);
    // One for each worker that this turn may still start, and one for the run itself.
    const shares = Math.max(1, this.#awaited) + 1;
    const budget = this.#known.get(callId)?.budget ?? this.#carve(callId, value);
    if (budget === undefined)
      return failedResult(
        "unavailable",
        "Not run: too little of your turns or your time is left for a worker. Start fewer, or do it yourself.",
      );
    const spawning = { ids: workerIds(callId), agent, task: run.secrets.redact(String(value.task)), budget, shares };
    try {
      return await this.#limit(() => this.#run(spawning, callId, turn, run, signal));
    } finally {
      this.#reserved.delete(callId);
    }
  }

  #refusal(name: string, depth: number): ToolResult {
    if (depth > this.#ports.maximumDepth)
      return failedResult("unavailable", `Not run: workers may go ${this.#ports.maximumDepth} deep. Do it yourself.`);
    const names = workerProfiles(this.#parent.agent).map((profile) => profile.name);
    return failedResult("not_found", `There is no profile "${name}" for a worker of yours. There are: ${names.join(", ")}.`);
  }

  #carve(callId: string, { turns, seconds }: ReadyCall["value"]): WorkerBudget | undefined {
    const asked = { turns: typeof turns === "number" ? turns : undefined, seconds: typeof seconds === "number" ? seconds : undefined };
    const { turn, lostTurns, workerTurns } = this.#progress;
    const reserved = [...this.#reserved.values()].reduce((sum, each) => sum + each, 0);
    const left = this.#turns - (turn - lostTurns) - workerTurns - reserved;
    const budget = carveBudget({ turns: left, milliseconds: this.#endsAt - performance.now() }, asked, this.#awaited);
    if (this.#awaited > 1) this.#awaited--;
    if (budget !== undefined) this.#reserved.set(callId, budget.turns);
    return budget;
  }

  async #run(spawning: Spawning, callId: string, turn: number, run: RunContext, signal: AbortSignal): Promise<ToolResult> {
    signal.throwIfAborted();
    run.draining.throwIfAborted();
    const { ids, agent, task, budget } = spawning;
    const agentType = agent.profile.name;
    const about = { callId, childSessionId: ids.sessionId, childRunId: ids.runId, agentType };
    const refusal = await this.#pay(spawning);
    if (refusal !== undefined) return refusal;
    if (!this.#known.has(callId)) await run.journal.append(turn, eventPayload("workerSpawned", { ...about, task, budget }));
    const { store } = this.#ports;
    const { organization } = this.#parent.authority.principal;
    if ((await store.find(organization, ids.sessionId)) === undefined)
      await beginWorker({ ...spawning, callId }, this.#parent, run, this.#ports).catch(async (cause: unknown) => {
        await this.#ports.budgets.giveBack(ids.runId);
        throw cause;
      });
    const end = await this.#follow(ids, about, turn, run, signal);
    this.#progress.workerTurns += end.turns;
    const { stopped, usage, turns, toolCalls, filesTouched } = end;
    await run.journal.append(
      turn,
      eventPayload("workerCompleted", {
        ...about,
        success: stopped.reason === StopReason.COMPLETED,
        stopReason: stopped.reason,
        usage,
        turns,
        toolCalls,
        durationMilliseconds: stopped.durationMilliseconds,
        filesTouched: [...filesTouched],
      }),
    );
    return workerResult(agentType, end);
  }

  /** Gives the worker its part of the run's own budget, where that has one. Once: a worker that is found again has it. */
  async #pay({ ids, shares }: Spawning): Promise<ToolResult | undefined> {
    if (this.#parent.budget === undefined) return undefined;
    // One after the other: a share is one of what those before have left.
    const paying = this.#paid.then(() => this.#ports.budgets.carve(this.#parent.lease.runId, ids.runId, {}, shares));
    this.#paid = paying.catch(() => undefined);
    const exhausted = await paying;
    if (exhausted === undefined) return undefined;
    return failedResult("unavailable", "Not run: too little of the run's budget is left for a worker. Do it yourself, or answer now.");
  }

  async #follow(
    { sessionId, runId }: WorkerIds,
    about: { readonly callId: string; readonly childSessionId: string; readonly agentType: string },
    turn: number,
    run: RunContext,
    signal: AbortSignal,
  ): Promise<WorkerEnd> {
    const { principal } = this.#parent.authority;
    const left = new AbortController();
    let grace: NodeJS.Timeout | undefined;
    const stop = (): void => {
      if (isHandOver(run.signal.reason)) return left.abort(run.signal.reason);
      grace ??= setTimeout(() => left.abort(signal.reason ?? run.signal.reason), CANCEL_MILLISECONDS);
      void this.#cancel(sessionId, runId).catch(() => undefined);
    };
    const stopping = AbortSignal.any([signal, run.signal]);
    if (stopping.aborted) stop();
    else stopping.addEventListener("abort", stop, { once: true });
    try {
      const passedOn = this.#known.get(about.callId)?.passedOn ?? 0n;
      return await followWorker(
        { principal, sessionId, passedOn, signal: left.signal },
        this.#ports,
        ({ agentTypes, check, childSequence }) => {
          const { callId, childSessionId, agentType } = about;
          const permission = { callId, childSessionId, agentTypes: [agentType, ...agentTypes], check, childSequence };
          void run.journal.append(turn, eventPayload("workerPermission", permission));
        },
      );
    } finally {
      clearTimeout(grace);
      stopping.removeEventListener("abort", stop);
    }
  }

  /** Those below it are cancelled with it. Where the database is away, whoever sweeps finds a worker without a parent. */
  async #cancel(sessionId: string, runId: string): Promise<void> {
    await this.#ports.store.requestCancel(this.#parent.authority.principal.organization, sessionId, runId);
    this.#ports.runs.cancel(runId);
  }
}
