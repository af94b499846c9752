import { CommanderError } from "commander";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { newTraceparent } from "@hlvm/telemetry/new-traceparent";
import { EXIT_FAILED, EXIT_OK, EXIT_WRONG_USAGE, type CommandContext } from "./command.ts";
import { readCliConfig } from "./config.ts";
import { isWrongUsage } from "./options/wrong-usage.ts";
import { createProgram } from "./program.ts";
import { Screen } from "./terminal/screen.ts";

const READER_GONE: ReadonlySet<string | undefined> = new Set(["EPIPE", "EIO"]);

/** Runs one command and returns its exit code: 0 done, 1 failed, 2 called wrongly, 128 and more ended by a signal. */
export async function runCommandLine(given: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { profile, words } = withoutProfile(given);
  const settings = readCliConfig(environment);
  const config = profile === undefined ? settings : { ...settings, profile };
  const screen = new Screen(process.stdout, process.stderr, config.noColor !== "");
  if ((environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? "") === "") return run(words, { config, screen, traceparent: newTraceparent() });
  const { traceCommand } = await import("./trace-command.ts");
  const work = (traceparent: string): Promise<number> => run(words, { config, screen, traceparent });
  // What is typed instead of a command may be anything, and is not exported.
  const command = createProgram({ config, screen, traceparent: "" }, () => undefined).commands.find((known) => known.name() === words[0]);
  return traceCommand(command === undefined ? "hlvm" : `hlvm ${command.name()}`, environment, screen, work);
}

/** Which profile is meant is known before any command is made: `hlvm --profile NAME COMMAND …`. */
function withoutProfile(given: readonly string[]): { readonly profile?: string; readonly words: readonly string[] } {
  const [first = "", second] = given;
  if (first.startsWith("--profile=")) return { profile: first.slice("--profile=".length), words: given.slice(1) };
  return first === "--profile" && second !== undefined ? { profile: second, words: given.slice(2) } : { words: given };
}

async function run(words: readonly string[], context: CommandContext): Promise<number> {
  const { screen } = context;
  let exitCode = EXIT_OK;
  // A reader that has gone, as `| head` does or a terminal that is closed, is not an error of ours.
  process.stderr.on("error", () => undefined);
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (READER_GONE.has(error.code) || exitCode === EXIT_FAILED) return;
    exitCode = EXIT_FAILED;
    screen.note(`Standard output cannot be written: ${error.message}.`, "bad");
  });
  const program = createProgram(context, (code) => (exitCode ||= code));
  try {
    await program.parseAsync([...words], { from: "user" });
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return await commanderExit(thrown, words);
    return await fail(thrown, screen);
  }
}

/** Commander has printed the message or the help already. */
async function commanderExit(error: CommanderError, words: readonly string[]): Promise<number> {
  if (error.exitCode === 0) return EXIT_OK;
  const wantsLines =
    words[0] === "ask" && (words.includes("--json") || words.includes("stream-json") || words.includes("--output-format=stream-json"));
  if (wantsLines) {
    const { failureLine } = await import("./run/failure-line.ts");
    const { jsonLine } = await import("./output/json-line.ts");
    const { wrongUsage } = await import("./options/wrong-usage.ts");
    process.stdout.write(jsonLine(failureLine(wrongUsage(error.message, "See `hlvm ask --help`."), "", "error")));
  }
  return EXIT_WRONG_USAGE;
}

async function fail(thrown: unknown, screen: Screen): Promise<number> {
  const { fromConnectError } = await import("@hlvm/connect-errors/from-connect-error");
  const error = thrown instanceof HlvmError ? thrown : fromConnectError(thrown);
  screen.status("");
  screen.note(error.message, "bad");
  if (error.advice !== "") screen.note(`What to do: ${error.advice}`);
  return isWrongUsage(error) ? EXIT_WRONG_USAGE : EXIT_FAILED;
}
