import { runCommandLine } from "./run-command-line.ts";

const exitCode = await runCommandLine(process.argv.slice(2), process.env);
await new Promise((flushed) => process.stdout.write("", flushed));
process.exit(exitCode);
