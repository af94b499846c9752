import { parseArgs } from "node:util";
import { printTable } from "../bench/print-table.ts";
import { chaos, type ChaosReport } from "./chaos.ts";
import { demands } from "./check-run.ts";
import { crowd } from "./crowd.ts";
import { planHarm } from "./plan-harm.ts";

const USAGE =
  "npm run chaos -- [--runs N] [--turns N] [--seed N] [--at-once N] [--pause MILLISECONDS] [--limit SECONDS] [--crowd] [--json]";
const SHOWN = 5;

const options = readOptions();
let lastTold = performance.now();
if (options.crowd) {
  const report = await crowd({ chats: options.chats, commands: options.commands, onProgress: progress });
  if (options.json) console.log(JSON.stringify(report));
  else {
    printTable(`A crowd of ${options.chats} chats and ${options.commands} commands, ${seconds(report.milliseconds)}`, report.rows);
    for (const fault of report.faults.slice(0, SHOWN)) console.log(`  ${fault}`);
  }
  process.exitCode = report.faults.length === 0 ? 0 : 1;
} else {
  const report = await chaos({
    ...options,
    pauseMilliseconds: options.pause,
    limitMilliseconds: options.limit * 1_000,
    name: `seed-${options.seed}`,
    plan: (parts) => planHarm(options.seed, parts),
    onProgress: progress,
  });
  if (options.json) console.log(JSON.stringify(report));
  else tell(report);
  process.exitCode = report.failures.length + report.leftOver.length === 0 ? 0 : 1;
}

function tell(report: ChaosReport): void {
  const { journal, runs, failures, leftOver, folder } = report;
  const rows = demands.map((demand) => {
    const of = failures.filter((failure) => failure.demand === demand);
    return {
      demand,
      held: runs - of.length,
      broken: of.length,
      "first runs": of
        .slice(0, SHOWN)
        .map(({ run }) => run)
        .join(", "),
    };
  });
  printTable(`Chaos, seed ${options.seed}: ${runs} runs of ${options.turns} turns in ${seconds(report.milliseconds)}`, [
    ...rows,
    { demand: "nothing left over", held: leftOver.length === 0 ? 1 : 0, broken: leftOver.length, "first runs": "" },
  ]);
  const harmed = journal.filter(({ pid }) => pid !== undefined);
  printTable(
    "What was done",
    report.parts.map((part) => {
      const count = (kind: string): number => harmed.filter((entry) => entry.part === part && entry.kind === kind).length;
      return { part, killed: count("kill"), frozen: count("freeze") };
    }),
  );
  console.log(
    `\n${report.takeovers} takeovers, ${report.outcomesUnknown} calls of unknown outcome, ` +
      `${journal.length - harmed.length} harms to parts that were down`,
  );
  tellLost("start", report.startsLost);
  tellLost("watch", report.watchesLost);
  for (const { run, sessionId, demand, observed } of failures.slice(0, SHOWN * demands.length))
    console.log(`run ${run} (session ${sessionId}), ${demand}: ${observed.slice(0, 400)}`);
  for (const fault of leftOver) console.log(fault);
  console.log(`Journal, logs and failed runs: ${folder}`);
}

function tellLost(what: string, messages: Readonly<Record<string, number>>): void {
  for (const [message, count] of Object.entries(messages)) console.log(`${count} x ${what} tried again: ${message}`);
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        runs: { type: "string", default: "20" },
        turns: { type: "string", default: "10" },
        seed: { type: "string" },
        "at-once": { type: "string", default: "8" },
        pause: { type: "string", default: "1000" },
        limit: { type: "string", default: "900" },
        chats: { type: "string", default: "300" },
        commands: { type: "string", default: "48" },
        crowd: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
      },
    });
    const { crowd: isCrowd, json, seed = String(Date.now() % 1_000_007) } = values;
    const wholeNumbers = {
      runs: values.runs,
      turns: values.turns,
      atOnce: values["at-once"],
      pause: values.pause,
      limit: values.limit,
      seed,
    };
    return { crowd: isCrowd, json, ...parsed({ ...wholeNumbers, chats: values.chats, commands: values.commands }) };
  } catch (thrown) {
    console.error(`${(thrown as Error).message}\n${USAGE}`);
    process.exit(2);
  }
}

function parsed<Name extends string>(texts: Readonly<Record<Name, string>>): Record<Name, number> {
  const entries = Object.entries<string>(texts).map(([name, text]): [string, number] => {
    if (!/^\d{1,9}$/.test(text) || (Number(text) === 0 && name !== "seed"))
      throw new Error(`--${name} takes a whole number, not "${text}".`);
    return [name, Number(text)];
  });
  return Object.fromEntries(entries) as Record<Name, number>;
}

/** At most every two seconds, and not where a program reads. */
function progress(line: string): void {
  if (performance.now() - lastTold < 2_000) return;
  lastTold = performance.now();
  process.stderr.write(`${line}\n`);
}

function seconds(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)} s`;
}
