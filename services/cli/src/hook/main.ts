import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { answerHook } from "./answer-hook.ts";

/** `hlvm hook run`: a program of its own, since a tool waits for it with every prompt. `bin/hlvm` ends with 0 whatever becomes of it. */
let isAnswered = false;
process.on("uncaughtException", () => process.exit(isAnswered ? 0 : 1));
process.stdout.on("error", () => undefined);

await answerHook({
  words: process.argv.slice(2),
  environment: process.env,
  input: process.stdin,
  write: (text) => {
    isAnswered = true;
    process.stdout.write(text);
  },
  elapsed: () => performance.now(),
  renewLogin: (profile, directory) => {
    const program = fileURLToPath(new URL("renew/main.ts", import.meta.url));
    const environment = { ...process.env, HLVM_DIR: directory };
    const child = spawn(process.execPath, [program, profile], { detached: true, stdio: "ignore", env: environment });
    child.on("error", () => undefined).unref();
  },
});
process.stdout.write("", () => process.exit(0));
