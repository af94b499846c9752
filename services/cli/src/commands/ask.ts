import { createClient, type Client } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, type Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { chosenProfile, type ChosenProfile } from "../agents/chosen-profile.ts";
import { ApprovalDesk } from "../approval/approval-desk.ts";
import { EXIT_FAILED, EXIT_OK, EXIT_WRONG_USAGE, type CommandContext } from "../command.ts";
import { connectMesh, type MeshConnection } from "../mesh/connect-mesh.ts";
import { noteTrouble } from "../mesh/process-trouble.ts";
import { runBudget, type BudgetFlags } from "../options/budget-flags.ts";
import { permissionSettings, type PermissionFlags } from "../options/permission-settings.ts";
import { personalInstructions } from "../options/personal-instructions.ts";
import { describeImage, pastedImages } from "../options/pasted-images.ts";
import { checkMediaTogether, readAttachments, type Attached, type AttachedMedia } from "../options/read-attachments.ts";
import { readPipedInput } from "../options/read-piped-input.ts";
import { isWrongUsage, wrongUsage } from "../options/wrong-usage.ts";
import { describeSource, workspaceSource, type WorkspaceFlags, type WorkspaceSource } from "../options/workspace-source.ts";
import { followSession } from "../run/follow-session.ts";
import { JsonView } from "../run/json-view.ts";
import type { RunView } from "../run/run-view.ts";
import { StreamJsonView } from "../run/stream-json-view.ts";
import { TextView } from "../run/text-view.ts";
import { Interrupts } from "../terminal/interrupts.ts";
import { prepareWorkspace } from "../workspace/prepare-workspace.ts";
import { meshEnded } from "./mesh-ended.ts";

const CANCEL_MILLISECONDS = 2_000;
const MAXIMUM_QUESTION_BYTES = 1024 * 1024;

export type OutputFormat = "text" | "json" | "stream-json";

export interface AskFlags extends PermissionFlags, WorkspaceFlags, BudgetFlags {
  readonly model?: string;
  /** The name of a profile. */
  readonly agent?: string;
  readonly verbose?: boolean;
  readonly outputFormat: OutputFormat;
  readonly attach?: readonly string[];
  /** Fingerprints or kinds. */
  readonly allowSecret?: readonly string[];
  readonly stateless?: boolean;
  /** Wait for standard input however long it takes to come. */
  readonly waitsForInput: boolean;
}

/** Asks one question and shows what comes of it. The exit code is 0 only for an answered question. */
export async function ask(question: string, flags: AskFlags, context: CommandContext): Promise<number> {
  using interrupts = new Interrupts();
  const view = createView(flags, context);
  const failed = (thrown: unknown): number => {
    const error = fromConnectError(thrown);
    if (!interrupts.brokenPipe) view.failed(error, interrupts.exitCode === undefined ? "error" : "user_cancelled");
    return interrupts.exitCode ?? (isWrongUsage(error) ? EXIT_WRONG_USAGE : EXIT_FAILED);
  };
  try {
    const request = readRequest(await questionAsked(question, flags, interrupts, context), flags, context);
    await checkToolNames(request.settings, context);
    const profile = await chosenProfile(flags.agent, context.config.directory, localFolder(request.source), context.screen);
    const mesh = await connectMesh(context, interrupts.signal);
    noteTrouble(mesh.state, context.screen);
    try {
      return await run(mesh, { ...request, ...profile }, view, interrupts, context);
    } catch (thrown) {
      return failed(thrown);
    } finally {
      await mesh.release();
    }
  } catch (thrown) {
    return failed(thrown);
  }
}

async function questionAsked(
  question: string,
  { waitsForInput }: AskFlags,
  { signal }: Interrupts,
  { screen }: CommandContext,
): Promise<string> {
  const onSilence = (): void =>
    screen.note(
      waitsForInput
        ? "Waiting for standard input. Ctrl-C cancels."
        : "Nothing came on standard input within 3 s, so nothing of it is asked. End the command with - to wait for it, or with < /dev/null to not wait.",
      "warning",
    );
  return questionWithInput(question, await readPipedInput({ waits: waitsForInput, signal, onSilence }));
}

type RunRequest = ReturnType<typeof readRequest> & Partial<ChosenProfile>;

/** Whose profiles can be read here: a repository's lie elsewhere. */
function localFolder(source: WorkspaceSource): string {
  return source.kind === "repository" ? "" : source.path;
}

function readRequest(asked: string, flags: AskFlags, context: CommandContext) {
  const { config } = context;
  // What comes from a program was not pasted by a person.
  const { question, images } = process.stdin.isTTY ? pastedImages(asked) : { question: asked, images: [] };
  if (question.trim() === "") throw wrongUsage("The question is empty.", 'Ask something: hlvm ask "What does this repository do?"');
  if (Buffer.byteLength(question) > MAXIMUM_QUESTION_BYTES)
    throw wrongUsage("The question is larger than 1 MB, with what was piped into it.", "Put long text into a file and use --attach.");
  const canAsk = flags.outputFormat === "text" && flags.print !== true && process.stdin.isTTY && process.stderr.isTTY;
  const resuming = flags.resume !== undefined;
  const source = workspaceSource(flags);
  return {
    sessionId: flags.resume ?? "",
    prompt: question,
    source,
    workspace: source.kind === "folder" ? source.path : "",
    model: flags.model ?? (resuming ? "" : config.model),
    settings: permissionSettings(flags, canAsk),
    ...attachmentsOf(flags.attach ?? [], images),
    stateless: flags.stateless === true,
    allowedSecrets: [...(flags.allowSecret ?? [])],
    personalInstructions: ownInstructions(context),
    budget: runBudget(flags),
  };
}

function attachmentsOf(paths: readonly string[], pasted: readonly AttachedMedia[]) {
  const attachments = readAttachments(paths);
  checkMediaTogether([...attachments, ...pasted]);
  return { attachments: attachments.map(attachmentOf), pasted };
}

function attachmentOf(one: Attached): Pick<Attachment, "path"> & Partial<Pick<Attachment, "text" | "data">> {
  return "data" in one ? { path: one.path, data: one.data } : one;
}

function ownInstructions({ config, screen }: CommandContext): string {
  const { text, notice } = personalInstructions(config.directory);
  if (notice !== "") screen.note(notice, "warning");
  return text;
}

/** @throws HlvmError wrong usage, where a list of denied tools names none of ours: it would deny nothing */
async function checkToolNames({ allowedTools, disallowedTools }: RunRequest["settings"], { screen }: CommandContext): Promise<void> {
  if (allowedTools.length + disallowedTools.length === 0) return;
  const { unknownTools } = await import("../options/unknown-tools.ts");
  for (const pattern of unknownTools(allowedTools)) screen.note(`No tool that comes with HLVM fits ${pattern}.`, "warning");
  const [unknown] = unknownTools(disallowedTools);
  if (unknown === undefined) return;
  const { nativeTools } = await import("@hlvm/tools/native-tools");
  throw wrongUsage(
    `--disallowedTools names ${unknown}, and no tool fits that: nothing would be denied.`,
    `The tools are ${nativeTools.map(({ name }) => name).join(", ")}; a name may end in *.`,
  );
}

function createView(flags: AskFlags, { screen }: CommandContext): RunView {
  const write = (line: string): void => void process.stdout.write(line);
  if (flags.outputFormat === "stream-json") return new StreamJsonView(write);
  if (flags.outputFormat === "json") return new JsonView(write);
  return new TextView(screen, { verbose: flags.verbose === true, showsQuestions: false });
}

async function run(
  mesh: MeshConnection,
  request: RunRequest,
  view: RunView,
  interrupts: Interrupts,
  { screen, config }: CommandContext,
): Promise<number> {
  if (interrupts.signal.aborted)
    throw new HlvmError({ code: "cancelled", reason: "cancelled", message: "Cancelled before the run started." });
  const sessions = createClient(SessionService, mesh.transport);
  const preparedSessionId = await prepareWorkspace(mesh.transport, request.source, { screen, signal: interrupts.signal });
  const { sessionId, runId, sequence, model } = await start(sessions, { ...request, preparedSessionId }, screen);
  const desk = new ApprovalDesk(createClient(PolicyService, mesh.transport), {
    screen,
    keyboard: process.stdin,
    onControlC: () => interrupts.interrupt(130),
    editor: config.editor,
  });
  const leave = new AbortController();
  let meshLost = false;
  const onMeshLost = async (): Promise<void> => {
    await mesh.lost;
    meshLost = true;
    leave.abort();
  };
  void onMeshLost();
  const cancel = (): void => {
    desk.close();
    setTimeout(() => leave.abort(), CANCEL_MILLISECONDS).unref();
    sessions.cancelRun({ sessionId, runId }, { timeoutMs: CANCEL_MILLISECONDS }).catch(() => leave.abort());
  };
  if (interrupts.signal.aborted) cancel();
  else interrupts.signal.addEventListener("abort", cancel, { once: true });
  try {
    view.started({ sessionId, model, workspace: describeSource(request.source) });
    const onLost = (): void => view.connectionLost();
    const reconnectMilliseconds = config.reconnectSeconds * 1_000;
    const watching = { sessionId, from: sequence, follow: true, signal: leave.signal, onLost, reconnectMilliseconds };
    for await (const event of followSession(sessions, watching)) {
      if (event.runId !== runId) continue;
      if (!interrupts.brokenPipe) view.event(event);
      if (request.settings.canAsk && !interrupts.signal.aborted) desk.event(event);
      if (event.payload.case === "runStopped")
        return interrupts.exitCode ?? (event.payload.value.reason === StopReason.COMPLETED ? EXIT_OK : EXIT_FAILED);
    }
    throw new HlvmError({ code: "internal", reason: "log_ended", message: "The session's log ended before the run did." });
  } catch (thrown) {
    throw meshLost ? meshEnded({ sessionId, stateless: request.stateless }, thrown) : thrown;
  } finally {
    desk.close();
    screen.status("");
    if (preparedSessionId !== "" && !request.stateless) screen.note(`To bring home what it changed: hlvm apply ${sessionId}`, "dim");
  }
}

type Sessions = Client<typeof SessionService>;

/** Starts the run with what was pasted into its question, or where the model cannot see that, without. */
async function start(
  sessions: Sessions,
  { pasted, attachments, ...request }: RunRequest & { readonly preparedSessionId: string },
  screen: CommandContext["screen"],
): ReturnType<Sessions["startRun"]> {
  const shown = pasted.map(describeImage).join("; ");
  try {
    const started = await sessions.startRun({ ...request, attachments: [...attachments, ...pasted.map(attachmentOf)] });
    if (pasted.length > 0) screen.note(`attached ${shown}`, "dim");
    return started;
  } catch (thrown) {
    if (pasted.length === 0 || fromConnectError(thrown).reason !== "attachment_not_taken") throw thrown;
    const started = await sessions.startRun({ ...request, attachments });
    screen.note(`${started.model} takes no images: it is asked without ${shown}.`, "warning");
    return started;
  }
}

/**
 * A question and what was piped into it: a block of its own behind the question, or the question itself where there is no
 * other. Nothing in the text can end the block: its mark is one that the text does not hold.
 */
function questionWithInput(question: string, input: string): string {
  if (input.trim() === "") return question;
  if (question.trim() === "") return input;
  let mark = "stdin";
  while (input.includes(`</${mark}>`)) mark += "-";
  return `${question}\n\n<${mark}>\n${input}${input.endsWith("\n") ? "" : "\n"}</${mark}>`;
}
