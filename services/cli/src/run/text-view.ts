import type { HlvmError } from "@hlvm/errors/hlvm-error";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { permissionModeWord } from "@hlvm/ndjson/permission-mode";
import { ApprovalKind, DecidingStepSchema, Decision, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import {
  type Attachment,
  Phase,
  PhaseSchema,
  StopReason,
  StopReasonSchema,
  type Event,
  type PermissionCheck,
  type RunStopped,
  type ToolEnd,
  type WorkerCompleted,
} from "@hlvm/proto/hlvm/session/v1/event_pb";
import { costText } from "../output/cost-text.ts";
import { workLines } from "./work-lines.ts";
import { printableLine } from "../terminal/printable.ts";
import type { Screen } from "../terminal/screen.ts";
import { counted, shortDuration, shortSize } from "../terminal/sizes.ts";
import { instructionNotes } from "./instruction-notes.ts";
import type { RunView } from "./run-view.ts";

const WAITS: Readonly<Record<number, string>> = {
  [ApprovalKind.PLAN]: "a plan waits to be accepted",
  [ApprovalKind.QUESTION]: "the model asks something, and waits",
};

export interface TextViewOptions {
  /** Also the model, the session, thinking, and figures of every turn. */
  readonly verbose: boolean;
  /** Also what people asked: for somebody who did not ask it just now. */
  readonly showsQuestions: boolean;
}

/** A run for a person: the answer as it comes, and a line for everything that was done on the way. */
export class TextView implements RunView {
  readonly #screen: Screen;
  readonly #options: TextViewOptions;
  /** By call id: the arguments in short. */
  readonly #summaries = new Map<string, string>();
  readonly #denied = new Set<string>();
  #textOfTurn = false;
  /** Whether text of an answer came, and not yet the whole answer. */
  #isAnswerOpen = false;
  #textOfRun = false;

  constructor(screen: Screen, options: TextViewOptions) {
    this.#screen = screen;
    this.#options = options;
  }

  started({ sessionId, model, workspace }: { sessionId: string; model: string; workspace: string }): void {
    if (this.#options.verbose) this.#screen.note(`model ${model} · session ${sessionId} · workspace ${workspace}`, "dim");
    this.#screen.status("thinking");
  }

  connectionLost(): void {
    this.#screen.note("The connection to the run is lost; resuming it.", "warning");
  }

  failed(error: HlvmError, stopReason: "error" | "user_cancelled"): void {
    this.#screen.status("");
    if (stopReason === "user_cancelled") return this.#screen.note("cancelled", "warning");
    this.#screen.note(error.message, "bad");
    if (error.advice !== "") this.#screen.note(`What to do: ${error.advice}`);
  }

  event({ payload, principal, sessionId, $unknown: unknown }: Event): void {
    switch (payload.case) {
      case "userMessage":
        this.#textOfRun = false;
        if (payload.value.queuedSequence > 0n) this.#screen.note(`${payload.value.author}, read now: ${payload.value.text}`);
        else if (this.#options.showsQuestions) this.#screen.note(`${principal}: ${payload.value.text}`);
        if (this.#options.showsQuestions || this.#options.verbose) this.#attachments(payload.value.attachments);
        return;
      case "comment":
        return this.#screen.note(`${principal} comments: ${payload.value.text}`);
      case "sessionTaken":
        return this.#screen.note(`${principal} took the session over from ${payload.value.formerOwner}.`);
      case "messageQueued":
        this.#screen.note(`${principal}, ${payload.value.interrupts ? "interrupting" : "queued"}: ${payload.value.text}`);
        return this.#attachments(payload.value.attachments);
      case "runStarted": {
        const { model, workspace, settings } = payload.value;
        if (this.#options.verbose)
          this.#screen.note(`model ${model} · mode ${permissionModeWord(settings?.mode ?? 0)} · workspace ${workspace}`, "dim");
        return;
      }
      case "thinking":
        if (this.#isAnswerOpen) this.#screen.note("The answer was cut on its way; the model is asked again.", "warning");
        this.#textOfTurn = false;
        this.#isAnswerOpen = false;
        return this.#screen.status("thinking");
      case "reasoningUpdate":
        if (this.#options.verbose) this.#screen.note(payload.value.text, "dim");
        return;
      case "messageDelta":
        this.#isAnswerOpen = true;
        return this.#text(payload.value.text);
      case "assistantMessage":
        this.#isAnswerOpen = false;
        if (!this.#textOfTurn) this.#text(payload.value.text);
        return this.#screen.endLine();
      case "toolSelected":
        this.#summaries.set(payload.value.callId, printableLine(payload.value.argumentsJson, 100));
        return;
      case "permissionCheck":
        return this.#permissionCheck(payload.value);
      case "toolStart":
        this.#summaries.set(payload.value.callId, printableLine(payload.value.argumentsSummary, 100));
        return this.#screen.status(`${payload.value.tool} ${payload.value.argumentsSummary}`);
      case "toolWaiting":
        return this.#screen.status(`${payload.value.tool} waits for a sandbox, place ${payload.value.position}`);
      case "toolEnd":
        return this.#toolEnd(payload.value);
      case "turnStats": {
        const { toolCount, durationMilliseconds, inputTokens, outputTokens, phase } = payload.value;
        if (this.#options.verbose)
          this.#screen.note(
            `turn: ${phase === Phase.UNSPECIFIED ? "" : `${enumWord(PhaseSchema, phase)} · `}${shortDuration(durationMilliseconds)} · ${counted(toolCount, "tool")} · ${inputTokens} tokens in · ${outputTokens} out`,
            "dim",
          );
        return;
      }
      case "memoryActivity": {
        const { recalled, written, notice } = payload.value;
        if (recalled.length > 0) this.#screen.note(`memory: ${counted(recalled.length, "fact")} recalled`, "dim");
        if (written.length > 0) this.#screen.note(`memory: ${counted(written.length, "fact")} written`, "dim");
        if (this.#options.verbose) for (const fact of [...recalled, ...written]) this.#screen.note(`  ${printableLine(fact)}`, "dim");
        if (notice !== "") this.#screen.note(`memory: ${notice}`, "warning");
        return;
      }
      case "instructionsLoaded":
        for (const { text, tone } of instructionNotes(payload.value, sessionId)) this.#screen.note(text, tone);
        return;
      case "todoUpdated":
      case "planCreated":
      case "planAnswered":
      case "planStep":
      case "reminder":
        for (const { text, tone } of workLines(payload, this.#options)) this.#screen.note(text, tone);
        return;
      case "runTakenOver":
        this.#isAnswerOpen = false;
        this.#screen.note("The orchestrator that held this run ended; another one goes on with it.", "warning");
        return this.#screen.status("thinking");
      case "compaction": {
        const { tokensBefore, tokensAfter, turns } = payload.value;
        const what = turns > 0 ? `${counted(turns, "turn")} summarised` : "results put aside";
        return this.#screen.note(`context: ${tokensBefore} tokens became ${tokensAfter}, ${what}; the log keeps everything`, "dim");
      }
      case "workerSpawned":
        return this.#screen.note(`→ worker ${payload.value.agentType}: ${printableLine(payload.value.task, 100)}`, "dim");
      case "workerCompleted":
        return this.#workerCompleted(payload.value);
      case "workerPermission": {
        const { agentTypes, check } = payload.value;
        const who = `worker ${printableLine(agentTypes.join(" › "))}`;
        if (check?.decision === Decision.ASK && check.approval !== undefined) this.#waits(`${who}: ${check.tool}`, check.approval);
        else if (check?.decision === Decision.DENY) this.#screen.note(`${who}: ${check.tool} was denied`, "warning");
        return;
      }
      case "runStopped":
        return this.#runStopped(payload.value);
      case undefined:
        if (unknown !== undefined) this.#screen.note("Something happened here that only a newer hlvm can show.", "dim");
        return;
      case "toolOutput":
      case "usageUpdate":
        return;
    }
  }

  #text(text: string): void {
    if (text === "") return;
    this.#screen.status("");
    this.#screen.answer(text);
    this.#textOfTurn = true;
    this.#textOfRun = true;
  }

  #permissionCheck({ callId, tool, decision, step, rule, reason, approval }: PermissionCheck): void {
    if (decision !== Decision.DENY) {
      if (decision === Decision.ASK && approval !== undefined) this.#waits(tool, approval);
      return;
    }
    this.#denied.add(callId);
    const why = printableLine(reason, 300);
    const deciding = `${enumWord(DecidingStepSchema, step)}${rule === "" ? "" : `, ${printableLine(rule)}`}`;
    this.#screen.note(`✗ ${tool} ${this.#summaries.get(callId) ?? ""} · denied (${deciding}): ${why}`, "warning");
  }

  #workerCompleted({ agentType, success, stopReason, turns, filesTouched, durationMilliseconds, usage }: WorkerCompleted): void {
    const facts = [enumWord(StopReasonSchema, stopReason), counted(turns, "turn"), shortDuration(durationMilliseconds)];
    const tokens = (usage?.inputTokens ?? 0n) + (usage?.outputTokens ?? 0n);
    const files = filesTouched.length === 0 ? [] : [counted(filesTouched.length, "file")];
    const line = [`${success ? "✓" : "✗"} worker ${agentType}`, ...facts, `${tokens} tokens`, ...files].join(" · ");
    this.#screen.note(line, success ? "dim" : "warning");
  }

  #attachments(attachments: readonly Attachment[]): void {
    for (const { path, mediaType, size, width, height } of attachments)
      if (mediaType !== "")
        this.#screen.note(`attached ${path}, ${mediaType}${width > 0 ? `, ${width}x${height}` : ""}, ${size} bytes`, "dim");
  }

  #waits(tool: string, { approvalId, kind }: Approval): void {
    const text = WAITS[kind] ?? `${tool} waits for an approval`;
    if (this.#options.showsQuestions) this.#screen.note(`${text}: hlvm approval show ${approvalId}`, "warning");
    this.#screen.status(text);
  }

  #toolEnd({ callId, tool, result }: ToolEnd): void {
    this.#screen.status("thinking");
    const summary = this.#summaries.get(callId) ?? "";
    this.#summaries.delete(callId);
    if (this.#denied.delete(callId) || result === undefined) return;
    const facts = [shortDuration(result.durationMilliseconds), shortSize(Number(result.resultBytes))];
    if (result.truncated) facts.push("shortened for the model");
    if (result.exitCode !== undefined && result.exitCode !== 0) facts.push(`exit ${result.exitCode}`);
    const line = [`${result.success ? "✓" : "✗"} ${tool} ${summary}`.trimEnd(), ...facts].join(" · ");
    if (result.success) return this.#screen.note(line, "dim");
    this.#screen.note(`${line} · ${printableLine(result.summary || result.errorCode)}`, "warning");
  }

  #runStopped(stopped: RunStopped): void {
    this.#screen.status("");
    if (!this.#textOfRun) this.#text(stopped.text);
    this.#screen.endLine();
    if (this.#options.verbose)
      this.#screen.note(
        `${enumWord(StopReasonSchema, stopped.reason)} · ${counted(stopped.turns, "turn")} · ${counted(stopped.toolCalls, "tool call")} · ${shortDuration(stopped.durationMilliseconds)}`,
        "dim",
      );
    const { nanoDollars = 0n, unpricedCalls = 0 } = stopped.cost ?? {};
    if (nanoDollars > 0n || unpricedCalls > 0) this.#screen.note(`cost: ${costText(stopped.cost)}`, "dim");
    if (stopped.reason === StopReason.COMPLETED) return;
    if (stopped.reason === StopReason.USER_CANCELLED) return this.#screen.note("cancelled", "warning");
    this.#screen.note(stopped.message || `The run stopped: ${enumWord(StopReasonSchema, stopped.reason)}.`, "bad");
    if (stopped.advice !== "") this.#screen.note(`What to do: ${stopped.advice}`);
  }
}
