// `npm run gen`: the validation schema from its package, then TypeScript from every contract.
import { execFileSync } from "node:child_process";
const run = (command, ...args) => execFileSync(command, args, { stdio: "inherit" });
run("node", "scripts/write-validate-proto.mjs");
run("buf", "format", "-w", "proto");
run("buf", "generate", "--template", "proto/buf.gen.yaml");
