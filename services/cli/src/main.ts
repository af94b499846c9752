import { EXIT_OK, EXIT_READER_GONE } from "./command.ts";
import { runCommandLine } from "./run-command-line.ts";

const exitCode = await runCommandLine(process.argv.slice(2), process.env);
const notWritten = await new Promise((flushed) => process.stdout.write("", flushed));
process.exit(exitCode === EXIT_OK && notWritten instanceof Error ? EXIT_READER_GONE : exitCode);
