import { createClient, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { SandboxService, type ReadInstructionsResponse } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { ProfileSource, type AgentProfile } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { builtInProfiles } from "@hlvm/agents/built-in-profiles";
import type { CommandContext } from "../command.ts";
import { confirm } from "../terminal/confirm.ts";
import { changeOf, instructionLines, shownText } from "../trust/instruction-lines.ts";
import { noProfile } from "./chosen-profile.ts";
import { noteMistakes } from "./note-mistakes.ts";
import { parseProfile, type Mistake } from "./parse-profile.ts";
import { withoutUnknownWorkers } from "./read-profiles.ts";

interface Asked {
  readonly name: string;
  /** A session's workspace, or a folder. */
  readonly where: { readonly sessionId: string } | { readonly path: string };
  /** The person's own. */
  readonly known: readonly AgentProfile[];
}

/** With the file that it was read from. */
interface Found {
  readonly profile: AgentProfile;
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
}

/**
 * A profile of the workspace that a run is to work in, read by the sandbox that has it, also where that is a clone elsewhere.
 * Its text steers the model: a person has to have seen it. On a terminal they are asked.
 * @throws HlvmError wrong usage where there is none of that name, `profile_untrusted`
 */
export async function workspaceProfile(asked: Asked, transport: Transport, context: CommandContext): Promise<AgentProfile> {
  const read = await createClient(SandboxService, transport).readInstructions({ ...asked.where, profiles: true });
  const mistakes: Mistake[] = [];
  const usable = withoutUnknownWorkers(parsed(read, mistakes), [...builtInProfiles, ...asked.known], mistakes);
  noteMistakes(
    mistakes.filter(({ isFatal }) => isFatal),
    context.screen,
  );
  const found = usable.find(({ profile }) => profile.name === asked.name);
  if (found === undefined) throw noProfile(asked.name, [...builtInProfiles, ...asked.known, ...usable.map(({ profile }) => profile)]);
  await requireTrust(found, read.workspace, transport, context);
  context.screen.note(`agent ${asked.name}: from ${found.path} of this workspace`, "warning");
  return found.profile;
}

function parsed({ files }: ReadInstructionsResponse, mistakes: Mistake[]): Found[] {
  const found: Found[] = [];
  for (const { file, sha256 } of files) {
    if (file === undefined) continue;
    const { path, text, refusal } = file;
    if (refusal !== "") {
      mistakes.push({ path, line: 1, message: refusal, isFatal: true });
      continue;
    }
    // As a person sees it: nothing hides in what the model is given.
    const isClaude = path.startsWith(".claude/");
    const read = parseProfile({ path, text: shownText(text), source: ProfileSource.WORKSPACE, isClaude });
    mistakes.push(...read.mistakes);
    if (read.profile === undefined) continue;
    const { name } = read.profile;
    const first = found.find(({ profile }) => profile.name === name);
    if (first === undefined) found.push({ profile: read.profile, path, text, sha256 });
    else mistakes.push({ path, line: 1, message: `the name ${name} is taken by ${first.path}`, isFatal: true });
  }
  return found;
}

async function requireTrust(
  { path, text, sha256, profile }: Found,
  workspace: string,
  transport: Transport,
  context: CommandContext,
): Promise<void> {
  const trust = createClient(TrustService, transport);
  const { workspaces } = await trust.listTrust({ workspace });
  const trusted = workspaces.flatMap(({ files }) => files);
  const trustedText = trusted.find((file) => file.path === path)?.text;
  const shown = { path, text, refusal: "", ...(trustedText === undefined ? {} : { trustedText }) };
  if (changeOf(shown) === "same") return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw untrusted(profile, workspace);
  const lines = [...instructionLines(shown), "It will steer the agent in your runs there. It allows nothing by itself."];
  if (!(await confirm(lines, `Trust ${path}?`, context))) throw untrusted(profile, workspace);
  const others = trusted.filter((file) => file.path !== path).map((file) => ({ path: file.path, sha256: file.sha256, text: file.text }));
  await trust.addTrust({ workspace, files: [...others, { path, sha256, text }] });
}

function untrusted({ name, path }: AgentProfile, workspace: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "profile_untrusted",
    message: `The agent profile "${name}" of ${path} in ${workspace} is not trusted, or has changed since.`,
    advice: workspace.startsWith("/")
      ? "`hlvm trust add` shows it and asks."
      : "Ask on a terminal, which shows it, or `hlvm trust add --session ID` for a session there.",
  });
}
