import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { HOSTILE_MODEL, type AttackMesh } from "./attack-mesh.ts";
import type { HostileCall } from "./hostile-model.ts";
import { visibleScreen } from "./terminal-screen.ts";

const ROWS = 24;
const COLUMNS = 80;
const PROMPT = /y \/ n \/ a|more|space|\bend\b/i;
/** From the prompt to the look at the screen: what belongs to it has been written by then. */
const SETTLE_MILLISECONDS = 150;
const DEADLINE_MILLISECONDS = 8_000;

/** The screens of 24 by 80 that a person had seen when their `y` was taken for an answer, last one last. */
export interface AnsweredOnTerminal {
  readonly screens: readonly string[];
}

/** A person who answers `y` to the first screen that asks anything, and reads nothing that is not on it. */
export async function answerOnTerminal(
  mesh: AttackMesh,
  workspace: string,
  question: string,
  call: HostileCall,
): Promise<AnsweredOnTerminal> {
  mesh.model.play(question, [{ calls: [call] }], "done");
  const hlvm = join(repositoryRoot, "services", "cli", "bin", "hlvm");
  const line = `stty rows ${ROWS} cols ${COLUMNS}; exec '${hlvm}' ask --model ${HOSTILE_MODEL} '${question}'`;
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd: workspace,
    env: { ...mesh.mesh.environment, TERM: "xterm", LINES: String(ROWS), COLUMNS: String(COLUMNS) },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const closed = once(child, "close");
  const screens: string[] = [];
  let written = "";
  const asked = new Promise<void>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      written += chunk;
      if (PROMPT.test(written)) resolve();
    });
  });
  const deadline = AbortSignal.timeout(DEADLINE_MILLISECONDS);
  const late = once(deadline, "abort");
  await Promise.race([asked, closed, late]);
  await sleep(SETTLE_MILLISECONDS);
  screens.push(visibleScreen(written, ROWS, COLUMNS));
  child.stdin.write("y");
  await Promise.race([closed, late]);
  child.kill("SIGKILL");
  await closed;
  return { screens };
}
