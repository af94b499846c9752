import { readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@hlvm/errors/message-of";
import type { FinalLine } from "@hlvm/ndjson/run-line";
import { ChaosMesh } from "./chaos-mesh.ts";
import { LINE_MODEL } from "./line-model.ts";
import { LINES_FILE, lineOf, promptOf } from "./next-step.ts";

const DEADLINE_MILLISECONDS = 10 * 60 * 1_000;
const SHOWN_LENGTH = 300;

export interface CrowdOptions {
  readonly chats: number;
  /** `hlvm ask`, a process each. */
  readonly commands: number;
  readonly onProgress: (line: string) => void;
}

export interface CrowdReport {
  readonly rows: readonly Readonly<Record<string, string | number>>[];
  /** What was refused, came incomplete or was lost, in words. */
  readonly faults: readonly string[];
  readonly milliseconds: number;
}

/** How one of them ended. */
interface Asked {
  readonly milliseconds: number;
  readonly fault: string;
}

/** Many people ask at the same moment, each for one tool call; nobody is killed. */
export async function crowd({ chats, commands, onProgress }: CrowdOptions): Promise<CrowdReport> {
  const mesh = await ChaosMesh.start();
  try {
    const began = performance.now();
    let ended = 0;
    const timed = async (ask: (number: number, workspace: string) => Promise<string>, number: number): Promise<Asked> => {
      const workspace = mesh.workspace(`run-${number}`);
      const fault = (await ask(number, workspace).catch(reasonsOf)) || lineFault(number, workspace);
      onProgress(`${++ended} of ${chats + commands} answered`);
      return { milliseconds: performance.now() - began, fault: fault === "" ? "" : `run ${number}: ${fault}` };
    };
    // Starting processes keeps this one busy for seconds, in which a chat's connection would be open and silent.
    const commanding = Array.from({ length: commands }, (_, index) => timed((...asked) => command(mesh, ...asked), chats + index + 1));
    const chatting = Array.from({ length: chats }, (_, index) => timed((...asked) => chat(mesh, ...asked), index + 1));
    const [chatted, commanded] = await Promise.all([Promise.all(chatting), Promise.all(commanding)]);
    return {
      rows: [row("/api/chat", chatted), row("hlvm ask", commanded)],
      faults: [...chatted, ...commanded].flatMap(({ fault }) => (fault === "" ? [] : [fault])),
      milliseconds: performance.now() - began,
    };
  } finally {
    await mesh.stop();
  }
}

/** fetch says why it failed in the causes of its error. */
function reasonsOf(thrown: unknown): string {
  return thrown instanceof Error && thrown.cause !== undefined ? `${thrown.message}: ${reasonsOf(thrown.cause)}` : messageOf(thrown);
}

function row(through: string, asked: readonly Asked[]): Readonly<Record<string, string | number>> {
  const took = asked.map(({ milliseconds }) => milliseconds / 1_000).toSorted((one, other) => one - other);
  const broken = asked.filter(({ fault }) => fault !== "").length;
  const middle = took[Math.floor(took.length / 2)] ?? 0;
  return { through, asked: asked.length, whole: asked.length - broken, broken, "median s": middle, "last s": took.at(-1) ?? 0 };
}

/** @returns what is wrong; nothing where it was answered whole */
async function chat(mesh: ChaosMesh, number: number, workspace: string): Promise<string> {
  const response = await fetch(`${mesh.mesh.state.edgeUrl}/api/chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${mesh.token}` },
    body: JSON.stringify({
      messages: [{ role: "user", content: promptOf(number, 1) }],
      workspace,
      model: LINE_MODEL,
      permission_mode: "bypassPermissions",
    }),
    signal: AbortSignal.timeout(DEADLINE_MILLISECONDS),
  });
  const body = await response.text();
  if (!response.ok) return `refused with ${response.status}: ${body.slice(0, SHOWN_LENGTH)}`;
  return finalFault(body);
}

async function command(mesh: ChaosMesh, number: number, workspace: string): Promise<string> {
  const words = ["ask", "--json", "--permission-mode", "bypassPermissions", "--model", LINE_MODEL, promptOf(number, 1)];
  const { code, stdout, stderr } = await mesh.mesh.hlvm(words, { cwd: workspace, deadlineMilliseconds: DEADLINE_MILLISECONDS });
  if (code !== 0) return `exit code ${code}: ${(stderr || stdout).slice(-SHOWN_LENGTH)}`;
  return finalFault(stdout);
}

function finalFault(lines: string): string {
  const last = lines.trimEnd().split("\n").at(-1) ?? "";
  const final = JSON.parse(last) as Partial<FinalLine>;
  return final.type === "final" && final.stop_reason === "completed" && final.tool_calls === 1 ? "" : last.slice(0, SHOWN_LENGTH);
}

function lineFault(number: number, workspace: string): string {
  const written = readFileSync(join(workspace, LINES_FILE), { encoding: "utf8", flag: "a+" });
  return written === `${lineOf(number, 1)}\n` ? "" : `its file holds ${JSON.stringify(written.slice(0, SHOWN_LENGTH))}`;
}
