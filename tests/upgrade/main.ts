import { parseArgs } from "node:util";
import { printTable } from "../bench/print-table.ts";
import { demands } from "../chaos/check-run.ts";
import { beforeLastContracts, exportVersion, type Version } from "./export-version.ts";
import { upgrade, type UpgradeReport } from "./upgrade.ts";

const USAGE = "npm run upgrade -- [REV] [--at-once N] [--asking N] [--turns N] [--seed N] [--pause MILLISECONDS] [--limit SECONDS]";
const SHOWN = 20;

const { revision, ...options } = readOptions();
const before = exported(revision);
console.log(`From ${before.name} to this working tree, seed ${options.seed}`);
const report = await upgrade({ ...options, before, onProgress: (line: string) => process.stderr.write(`${line}\n`) });
tell(report);
process.exitCode = report.failures.length + report.faults.length === 0 ? 0 : 1;

function exported(revision: string | undefined): Version {
  try {
    return exportVersion(revision ?? beforeLastContracts());
  } catch (thrown) {
    console.error((thrown as Error).message);
    process.exit(2);
  }
}

function tell({ runs, replaced, failures, faults, takeovers, outcomesUnknown, folder }: UpgradeReport): void {
  printTable(
    "Replaced, in this order",
    replaced.map(({ part, milliseconds }) => ({ part, milliseconds })),
  );
  printTable(
    `${runs} runs of ${options.turns} turns`,
    demands.map((demand) => {
      const broken = failures.filter((failure) => failure.demand === demand).length;
      return { demand, held: runs - broken, broken };
    }),
  );
  console.log(`\n${takeovers} takeovers, ${outcomesUnknown} calls of unknown outcome`);
  for (const { run, sessionId, demand, observed } of failures.slice(0, SHOWN))
    console.log(`run ${run} (session ${sessionId}), ${demand}: ${observed.slice(0, 400)}`);
  for (const fault of faults.slice(0, SHOWN)) console.log(fault);
  console.log(`Logs and failed runs: ${folder}`);
}

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        "at-once": { type: "string", default: "6" },
        asking: { type: "string", default: "2" },
        turns: { type: "string", default: "10" },
        seed: { type: "string", default: "1" },
        pause: { type: "string", default: "1500" },
        limit: { type: "string", default: "300" },
      },
    });
    if (positionals.length > 1) throw new Error("Give one revision.");
    return {
      revision: positionals[0],
      atOnce: wholeNumber("at-once", values["at-once"]),
      asking: wholeNumber("asking", values.asking),
      turns: wholeNumber("turns", values.turns),
      seed: wholeNumber("seed", values.seed),
      pauseMilliseconds: wholeNumber("pause", values.pause),
      limitMilliseconds: wholeNumber("limit", values.limit) * 1_000,
    };
  } catch (thrown) {
    console.error(`${(thrown as Error).message}\n${USAGE}`);
    process.exit(2);
  }
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}".`);
  return Number(text);
}
