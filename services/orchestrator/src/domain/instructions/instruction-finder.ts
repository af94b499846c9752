import { posix } from "node:path";
import { messageOf } from "@hlvm/errors/message-of";
import type { ToolCallPart } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { InstructionOrigin, InstructionState } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { isHidden, standIn } from "@hlvm/visible-text/hidden-character";
import type { LoadedInstruction } from "../fold/loaded-instructions.ts";
import { eventPayload } from "../log/event-payload.ts";
import type { FoundInstruction, FoundInstructions, WorkspaceIdentity } from "../loop/ports.ts";
import { retryWhileFull } from "../loop/retry-while-away.ts";
import type { RunContext } from "../loop/run-context.ts";
import { touchedFolders } from "./instruction-folders.ts";
import type { TrustVerdict } from "./workspace-trust.ts";

/** Of what the context has room for, all instructions together: a large file is no reason that a small model cannot work. */
const SHARE_OF_CONTEXT = 0.2;
const CHARACTERS_A_TOKEN = 4;

/** A file of an event of the log. */
interface ReportedFile {
  readonly path: string;
  readonly origin: InstructionOrigin;
  readonly state: InstructionState;
  readonly sha256?: string;
  readonly text?: string;
  readonly reason?: string;
}

type FinderRun = Pick<RunContext, "sessionId" | "runId" | "workspace" | "principal" | "mesh" | "context" | "journal" | "limits" | "signal">;

/**
 * Finds the instructions of a workspace where work happens, has a person's trust checked, and puts those that they trust into
 * the log and the context. One for each run.
 */
export class InstructionFinder {
  readonly #looked = new Set<string>();
  readonly #identity = Promise.withResolvers<WorkspaceIdentity | undefined>();

  /** What the workspace is; undefined where it could not be looked at. Told by `begin`. */
  get identity(): Promise<WorkspaceIdentity | undefined> {
    return this.#identity.promise;
  }

  /** Those of the whole workspace; and again those that an earlier run loaded, which may no longer be trusted. */
  async begin(turn: number, run: FinderRun): Promise<void> {
    const known = run.context.conversation.instructions.loaded;
    const folders = known.filter(({ origin }) => origin === InstructionOrigin.WORKSPACE).map(({ path }) => folderOf(path));
    const stale = known.filter(({ principal }) => principal !== "" && principal !== run.principal).map(removed);
    await this.#look(["", ...new Set(folders.filter((folder) => folder !== ""))], turn, run, stale);
  }

  /** Those of the folders that the calls of a turn came into for the first time. */
  async follow(calls: readonly Pick<ToolCallPart, "tool" | "argumentsJson">[], turn: number, run: FinderRun): Promise<void> {
    const folders = touchedFolders(calls, run.workspace).filter((folder) => !this.#looked.has(folder));
    if (folders.length > 0) await this.#look(folders, turn, run, []);
  }

  async #look(folders: readonly string[], turn: number, run: FinderRun, stale: readonly ReportedFile[]): Promise<void> {
    let found: FoundInstructions = { workspace: "", files: [] };
    let files: ReportedFile[] = [];
    let notice = "";
    try {
      const read = () => run.mesh.sandbox.readInstructions(run.sessionId, folders, run.signal);
      found = await retryWhileFull(read, run.limits.serviceMilliseconds, run.signal);
      this.#identity.resolve(found.identity);
      const readable = found.files.filter(({ refusal }) => refusal === "");
      const verdicts = readable.length === 0 ? [] : await run.mesh.trust.check(found.workspace, readable, run.signal);
      files = reported(found.files, new Map(readable.map((file, index) => [file, verdicts[index]])), run);
      for (const folder of folders) this.#looked.add(folder);
      files.push(...goneFrom(folders, found.files, run));
    } catch (thrown) {
      this.#identity.resolve(undefined);
      run.signal.throwIfAborted();
      notice = `Instructions of the workspace could not be looked for: ${messageOf(thrown)}`;
    }
    const mentioned = new Set(files.map(({ path, origin }) => `${origin} ${path}`));
    files.unshift(...stale.filter(({ path, origin }) => !mentioned.has(`${origin} ${path}`)));
    if (files.length === 0 && notice === "") return;
    const payload = eventPayload("instructionsLoaded", { files, workspace: found.workspace, notice });
    void run.journal.append(turn, payload);
    run.context.add({ runId: run.runId, turn, payload, principal: run.principal });
  }
}

/** What is new to the model or to the person. */
function reported(
  found: readonly FoundInstruction[],
  verdicts: ReadonlyMap<FoundInstruction, TrustVerdict | undefined>,
  { context, principal }: FinderRun,
): ReportedFile[] {
  const { instructions } = context.conversation;
  let room = Math.floor(context.budget.limit * SHARE_OF_CONTEXT) * CHARACTERS_A_TOKEN;
  for (const { length } of instructions.loaded) room -= length;
  return found.flatMap((file): ReportedFile[] => {
    const { path, sha256, refusal } = file;
    const one = { path, origin: InstructionOrigin.WORKSPACE, sha256 };
    const verdict = verdicts.get(file);
    if (refusal !== "") return [{ ...one, state: InstructionState.REFUSED, reason: refusal }];
    if (verdict === "changed") return [{ ...one, state: InstructionState.CHANGED }];
    if (verdict !== "trusted") return [{ ...one, state: InstructionState.UNTRUSTED }];
    const known = instructions.find(path, InstructionOrigin.WORKSPACE);
    if (known?.sha256 === sha256 && known.principal === principal) return [];
    const text = visible(file.text);
    if (text.trim() === "") return [];
    if (text.length > room) return [{ ...one, state: InstructionState.REFUSED, reason: tooMuch(text.length, room) }];
    room -= text.length;
    return [{ ...one, state: InstructionState.LOADED, text }];
  });
}

/** Files that the model has before it, and that are not there any more. */
function goneFrom(folders: readonly string[], found: readonly FoundInstruction[], { context }: FinderRun): ReportedFile[] {
  const there = new Set(found.map(({ path }) => path));
  return context.conversation.instructions.loaded
    .filter(({ origin, path }) => origin === InstructionOrigin.WORKSPACE && folders.includes(folderOf(path)) && !there.has(path))
    .map(removed);
}

function removed({ path, origin }: Pick<LoadedInstruction, "path" | "origin">): ReportedFile {
  return { path, origin, state: InstructionState.REMOVED };
}

/** Where a file is looked for. */
function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === "." || folder === ".hlvm" ? "" : folder;
}

/** As the person saw it when they trusted it: nothing hides. */
function visible(text: string): string {
  return Array.from(text, (character) =>
    "\n\t\r".includes(character) || !isHidden(character) ? character : `⟦${standIn(character)}⟧`,
  ).join("");
}

function tooMuch(length: number, room: number): string {
  return `it has ${length} characters, and this model's window has room for ${Math.max(0, room)} more of instructions`;
}
