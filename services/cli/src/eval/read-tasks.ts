import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { parse } from "smol-toml";

const DESCRIPTION = "task.toml";
/** What a Dockerfile may say of a task that needs no image: the sandbox has the machine's programs. */
const HARMLESS = /^\s*(#|$|FROM |WORKDIR |COPY \. )/i;
const MAXIMUM_FILES = 20_000;
const MAXIMUM_BYTES = 64 * 1024 * 1024;
const MAXIMUM_INSTRUCTION_BYTES = 256 * 1024;
const DEFAULTS = { seconds: 300, turns: 20, tokens: 1_000_000, checkSeconds: 60 };

export interface EvalTask {
  readonly name: string;
  readonly folder: string;
  readonly instruction: string;
  readonly budget: { readonly seconds: number; readonly turns: number; readonly tokens: number };
  readonly checkSeconds: number;
  /** In which it runs, where the machine's programs are not enough. */
  readonly image?: string;
  /** Why it cannot be run here. */
  readonly unfit?: string;
}

type Table = Readonly<Record<string, unknown>>;

/**
 * The tasks in a folder, each a folder in Harbor's form, or the one that the folder is. Nothing of them is run.
 * @throws HlvmError `task_not_readable`, `no_tasks`
 */
export function readTasks(folder: string): EvalTask[] {
  if (existsSync(join(folder, DESCRIPTION))) return [readTask(folder)];
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  const tasks = names.filter((name) => existsSync(join(folder, name, DESCRIPTION))).map((name) => readTask(join(folder, name)));
  if (tasks.length > 0) return tasks;
  throw new HlvmError({
    code: "invalid_argument",
    reason: "no_tasks",
    message: `${folder} holds no task: no folder in it has a ${DESCRIPTION}.`,
    advice: "A task is a folder with task.toml, instruction.md, environment/, tests/test.sh and solution/solve.sh.",
  });
}

function readTask(folder: string): EvalTask {
  try {
    for (const name of [DESCRIPTION, "instruction.md", "environment", "tests", "solution"]) requirePlainFiles(join(folder, name));
    const table = parse(readFileSync(join(folder, DESCRIPTION), "utf8")) as Table;
    const [agent, verifier, ours] = [part(table, "agent"), part(table, "verifier"), part(part(table, "metadata"), "hlvm")];
    for (const name of ["tests/test.sh", "solution/solve.sh"]) if (!existsSync(join(folder, name))) throw new Error(`it has no ${name}`);
    const instruction = readFileSync(join(folder, "instruction.md"), "utf8");
    if (instruction.trim() === "" || Buffer.byteLength(instruction) > MAXIMUM_INSTRUCTION_BYTES)
      throw new Error("its instruction.md is empty, or larger than 256 KiB");
    const unfit = unfitness(folder);
    const image = imageOf(folder, part(table, "environment"));
    return {
      name: basename(folder),
      folder,
      instruction,
      budget: {
        seconds: whole(agent, "timeout_sec", DEFAULTS.seconds),
        turns: whole(ours, "turns", DEFAULTS.turns),
        tokens: whole(ours, "tokens", DEFAULTS.tokens),
      },
      checkSeconds: Math.min(whole(verifier, "timeout_sec", DEFAULTS.checkSeconds), DEFAULTS.checkSeconds),
      ...(image === undefined ? {} : { image }),
      ...(unfit === undefined ? {} : { unfit }),
    };
  } catch (cause) {
    throw new HlvmError({
      code: "invalid_argument",
      reason: "task_not_readable",
      message: `The task ${folder} cannot be read: ${messageOf(cause)}.`,
      advice: "Mend it, or give the folder of one task that is in order.",
      cause,
    });
  }
}

/** A link could lead to the caller's own files, which would then be sent. */
function requirePlainFiles(folder: string): void {
  let files = 0;
  let bytes = 0;
  const enter = (path: string): void => {
    const stats = lstatSync(path);
    if (stats.isDirectory()) {
      if (basename(path).toLowerCase() === ".git") throw new Error(`${path} is git's own folder`);
      for (const name of readdirSync(path)) enter(join(path, name));
      return;
    }
    if (!stats.isFile()) throw new Error(`${path} is a link, or no file`);
    bytes += stats.size;
    if (++files > MAXIMUM_FILES || bytes > MAXIMUM_BYTES) throw new Error(`${folder} holds more than 20,000 files or 64 MiB`);
  };
  enter(folder);
}

function unfitness(folder: string): string | undefined {
  if (["docker-compose.yaml", "docker-compose.yml"].some((name) => existsSync(join(folder, "environment", name))))
    return "it needs several containers";
  return undefined;
}

/** The one that it names, or one that is made of its Dockerfile and named after what that says. Nothing here makes it. */
function imageOf(folder: string, { docker_image: named }: Table): string | undefined {
  if (typeof named === "string" && named !== "") return named;
  const dockerfile = join(folder, "environment", "Dockerfile");
  if (!existsSync(dockerfile) || !statSync(dockerfile).isFile()) return undefined;
  const text = readFileSync(dockerfile, "utf8");
  if (text.split("\n").every((line) => HARMLESS.test(line))) return undefined;
  return `task-${basename(folder).replaceAll(/[^A-Za-z0-9._-]/g, "-")}:${sha256Hex(text).slice(0, 12)}`;
}

function part(table: Table, name: string): Table {
  const value = table[name];
  return typeof value === "object" && value !== null ? (value as Table) : {};
}

function whole(table: Table, name: string, otherwise: number): number {
  const value = table[name] ?? otherwise;
  if (typeof value !== "number" || !(value >= 1 && value <= 100_000_000)) throw new Error(`${name} is no number from 1 on`);
  return Math.ceil(value);
}
