// Runs the hlvm command, from its bundle where there is one.
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundledMain } from "@hlvm/bundle/bundled-main";

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
await import(pathToFileURL(bundledMain(main)).href);
