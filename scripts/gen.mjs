// `npm run gen`: the validation schema from its package, then TypeScript from every contract. `npm run gen -- --release`
// also takes the contracts as they are for what `npm run check` may not find broken from now on.
import { execFileSync } from "node:child_process";
import { hlvmDirectory, prepare } from "./prepare.mjs";
import { orExplain } from "./prepare/not-prepared.mjs";

await orExplain(() => prepare({ directory: hlvmDirectory }));

const run = (command, ...commandArguments) => execFileSync(command, commandArguments, { stdio: "inherit" });

run("node", "scripts/write-validate-proto.mjs");
run("buf", "format", "-w", "proto");
run("buf", "generate", "--template", "proto/buf.gen.yaml");
if (process.argv.includes("--release")) run("buf", "build", "proto", "--exclude-source-info", "-o", "proto/released.binpb");
