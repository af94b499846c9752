// Compares the contracts with proto/released.binpb, the contracts as they were last released: nothing that somebody may
// use already may break. Both are compiled first, since the contracts are two modules and what was released is one image.
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const image = join(process.argv[2], "contracts.binpb");
const config = JSON.stringify({ version: "v2", breaking: { use: ["FILE"] } });
const ofOthers = ["--exclude-path", "buf", "--exclude-path", "grpc"];

const run = (...commandArguments) => spawnSync("buf", commandArguments, { stdio: "inherit" }).status ?? 1;
process.exit(
  run("build", "proto", "--exclude-source-info", "-o", image) ||
    run("breaking", image, "--against", "proto/released.binpb", "--config", config, ...ofOthers),
);
