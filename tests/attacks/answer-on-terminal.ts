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
/** Anything that looks as if a key were wanted. */
const PROMPT = /y \/ n \/ a|\bmore\b|\bspace\b/i;
/** Without output for so long, a screen is complete. */
const QUIET_MILLISECONDS = 200;
/** Without output for so long after a key, nothing more comes of it. */
const SILENCE_MILLISECONDS = 2_000;
const DEADLINE_MILLISECONDS = 20_000;

/** The screens of 24 by 80 to which the person answered `y`. */
export interface AnsweredOnTerminal {
  readonly screens: readonly string[];
}

/** A person who answers `y` to every screen that wants a key, and reads nothing that is not on it. */
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
  const closed = once(child, "close").then(() => "closed" as const);
  const deadline = performance.now() + DEADLINE_MILLISECONDS;
  const screens: string[] = [];
  let written = "";
  let answered = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (written += chunk));
  for (let changedAt = performance.now(), length = 0; performance.now() < deadline;) {
    if ((await Promise.race([closed, sleep(QUIET_MILLISECONDS)])) === "closed") break;
    if (written.length > length) {
      changedAt = performance.now();
      length = written.length;
    } else if (PROMPT.test(written.slice(answered))) {
      screens.push(await visibleScreen(written, ROWS, COLUMNS));
      answered = written.length;
      child.stdin.write("y");
      changedAt = performance.now();
    } else if (screens.length > 0 && performance.now() - changedAt > SILENCE_MILLISECONDS) break;
  }
  child.kill("SIGKILL");
  await closed;
  return { screens };
}
