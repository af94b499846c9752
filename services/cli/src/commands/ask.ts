import { createClient, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, type AgentProfile, type Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionService, type StartRunResponse } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { chosenProfile, type ChosenProfile } from "../agents/chosen-profile.ts";
import { ApprovalDesk } from "../approval/approval-desk.ts";
import { EXIT_FAILED, EXIT_OK, EXIT_WRONG_USAGE, type CommandContext } from "../command.ts";
import { connectMesh, type MeshConnection } from "../mesh/connect-mesh.ts";
import { noteTrouble } from "../mesh/process-trouble.ts";
import { runBudget, type BudgetFlags } from "../options/budget-flags.ts";
import { permissionSettings, type PermissionFlags } from "../options/permission-settings.ts";
import { personalInstructions } from "../options/personal-instructions.ts";
import { pastedImages } from "../options/pasted-images.ts";
import { questionAsked } from "../options/question-asked.ts";
import { isWrongUsage, wrongUsage } from "../options/wrong-usage.ts";
import { describeSource, workspaceSource, type WorkspaceFlags } from "../options/workspace-source.ts";
import { askedFiles, sendWithNotedFiles } from "../run/send-with-files.ts";
import { followSession } from "../run/follow-session.ts";
import { JsonView } from "../run/json-view.ts";
import type { RunView } from "../run/run-view.ts";
import { StreamJsonView } from "../run/stream-json-view.ts";
import { TextView } from "../run/text-view.ts";
import { Steering } from "../run/steering.ts";
import { Interrupts } from "../terminal/interrupts.ts";
import { isInteractive } from "../terminal/is-interactive.ts";
import { TerminalInput } from "../terminal/terminal-input.ts";
import { prepareWorkspace } from "../workspace/prepare-workspace.ts";
import { leftRunning } from "./left-running.ts";
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
    const request = readRequest(await questionAsked(question, flags.waitsForInput, interrupts.signal, context), flags, context);
    await checkToolNames(request.settings, context);
    const profile = await chosenProfile(flags.agent, context.config.directory, context.screen);
    const mesh = await connectMesh(context, interrupts.signal);
    noteTrouble(mesh.state, context.screen);
    try {
      return await run(mesh, { ...request, ...profile, agentName: flags.agent ?? "" }, view, interrupts, context);
    } catch (thrown) {
      return failed(thrown);
    } finally {
      await mesh.release();
    }
  } catch (thrown) {
    return failed(thrown);
  }
}

type RunRequest = ReturnType<typeof readRequest> & ChosenProfile & { readonly agentName: string };

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
    files: askedFiles(flags.attach ?? [], images),
    stateless: flags.stateless === true,
    allowedSecrets: [...(flags.allowSecret ?? [])],
    personalInstructions: ownInstructions(context),
    budget: runBudget(flags),
  };
}

function ownInstructions({ config, screen }: CommandContext): string {
  const { text, notice } = personalInstructions(config.directory);
  if (notice !== "") screen.note(notice, "warning");
  return text;
}

/** A profile that is neither ours nor the person's own. */
async function namedProfile(
  { agentName: name, sessionId, workspace, workerProfiles: known }: RunRequest,
  preparedSessionId: string,
  transport: Transport,
  context: CommandContext,
): Promise<AgentProfile | undefined> {
  if (name === "") return undefined;
  const ofSession = sessionId || preparedSessionId;
  const { workspaceProfile } = await import("../agents/workspace-profile.ts");
  return workspaceProfile({ name, where: ofSession === "" ? { path: workspace } : { sessionId: ofSession }, known }, transport, context);
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
  context: CommandContext,
): Promise<number> {
  const { screen, config } = context;
  if (interrupts.signal.aborted)
    throw new HlvmError({ code: "cancelled", reason: "cancelled", message: "Cancelled before the run started." });
  const sessions = createClient(SessionService, mesh.transport);
  const preparedSessionId = await prepareWorkspace(mesh.transport, request.source, { screen, signal: interrupts.signal });
  const agent = request.agent ?? (await namedProfile(request, preparedSessionId, mesh.transport, context));
  const start = (attachments: Attachment[]): Promise<StartRunResponse> =>
    sessions.startRun({ ...request, ...(agent === undefined ? {} : { agent }), preparedSessionId, attachments });
  const { sessionId, runId, sequence, model } = await sendWithNotedFiles(start, request.files, screen);
  using input = new TerminalInput(process.stdin, { write: screen.control, onControlC: () => interrupts.interrupt(130) });
  const desk = new ApprovalDesk(createClient(PolicyService, mesh.transport), { screen, input, editor: config.editor });
  const leave = new AbortController();
  let hasLeft = false;
  let meshLost = false;
  const onMeshLost = async (): Promise<void> => {
    await mesh.lost;
    meshLost = true;
    leave.abort();
  };
  void onMeshLost();
  const streams = [process.stdin, process.stdout, process.stderr];
  let steering: Steering | undefined;
  const cancel = (): void => {
    desk.close();
    steering?.[Symbol.dispose]();
    setTimeout(() => leave.abort(), CANCEL_MILLISECONDS).unref();
    sessions.cancelRun({ sessionId, runId }, { timeoutMs: CANCEL_MILLISECONDS }).catch(() => leave.abort());
  };
  if (interrupts.signal.aborted) cancel();
  else interrupts.signal.addEventListener("abort", cancel, { once: true });
  try {
    if (request.settings.canAsk && !interrupts.signal.aborted && isInteractive(streams, config.terminal))
      steering = new Steering({
        screen,
        input,
        sessions,
        sessionId,
        onLeave: () => {
          hasLeft = true;
          leave.abort();
        },
        controlC: "cancels the run",
      });
    view.started({ sessionId, model, workspace: describeSource(request.source) });
    const onLost = (): void => view.connectionLost();
    const reconnectMilliseconds = config.reconnectSeconds * 1_000;
    const watching = { sessionId, from: sequence, follow: true, signal: leave.signal, onLost, reconnectMilliseconds };
    for await (const event of followSession(sessions, watching)) {
      if (event.runId !== runId) continue;
      if (!interrupts.brokenPipe) view.event(event);
      steering?.event(event);
      if (request.settings.canAsk && !interrupts.signal.aborted) desk.event(event);
      if (event.payload.case === "runStopped")
        return interrupts.exitCode ?? (event.payload.value.reason === StopReason.COMPLETED ? EXIT_OK : EXIT_FAILED);
    }
    throw new HlvmError({ code: "internal", reason: "log_ended", message: "The session's log ended before the run did." });
  } catch (thrown) {
    if (hasLeft) return leftRunning(sessionId, mesh.endsWithUs, screen);
    throw meshLost ? meshEnded({ sessionId, stateless: request.stateless }, thrown) : thrown;
  } finally {
    desk.close();
    screen.status("");
    steering?.[Symbol.dispose]();
    if (preparedSessionId !== "" && !request.stateless) screen.note(`To bring home what it changed: hlvm apply ${sessionId}`, "dim");
  }
}
