import { join } from "node:path";
import { repositoryRoot } from "../e2e/test-mesh.ts";
import { runProgram } from "../e2e/run-program.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

interface Figures {
  readonly cold: { readonly firstOutput: number[]; readonly closed: number[] };
  readonly standingBy: { readonly firstOutput: number[]; readonly closed: number[] };
  readonly firstCommand: number[];
  readonly firstFileTool: number[];
  readonly idleRunnerMebibytes: number;
  readonly atOnce: { readonly sessions: number; readonly seconds: number; readonly mebibytes: number };
}

/** Sandboxes by themselves: a command's, cold and standing by, the first call of a session, the runner's memory, many at once. */
export async function benchSandboxes(): Promise<void> {
  const program = join(repositoryRoot, "services", "sandbox", "src", "testing", "measure-sandboxes.ts");
  const ended = await runProgram(process.execPath, [program], { cwd: repositoryRoot, environment: { PATH: process.env.PATH! } });
  if (ended.code !== 0) throw new Error(`it ended with ${ended.code}: ${ended.stderr}`);
  const figures = JSON.parse(ended.stdout.trim().split("\n").at(-1)!) as Figures;
  const row = (what: string, taken: number[], limit: string) => ({
    what,
    p50: quantile(taken, 0.5),
    p95: quantile(taken, 0.95),
    "limit of p95": limit,
  });
  printTable("A command's sandbox (echo hi) and the first call of a session, milliseconds", [
    row("cold: first output", figures.cold.firstOutput, ""),
    row("cold: closed", figures.cold.closed, ""),
    row("standing by: first output", figures.standingBy.firstOutput, ""),
    row("standing by: closed", figures.standingBy.closed, ""),
    row("first call, a command", figures.firstCommand, "100"),
    row("first call, a file tool", figures.firstFileTool, "100"),
  ]);
  const { sessions, seconds, mebibytes } = figures.atOnce;
  printTable("Sandboxes kept", [
    { what: "an idle session's runner, MiB (PSS)", figure: figures.idleRunnerMebibytes, limit: "55" },
    {
      what: `${sessions} sessions at once, each a file tool and a command: seconds until all had their results`,
      figure: seconds,
      limit: "",
    },
    { what: `${sessions} sessions at once, MiB (PSS)`, figure: mebibytes, limit: "" },
  ]);
}
