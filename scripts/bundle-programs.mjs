// Bundles the programs of this checkout, unless all bundles are of its sources as they are. One process at a time.
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { bundledMain, bundleRecordFile } from "../libs/bundle/src/bundled-main.ts";
import { say } from "./prepare/not-prepared.mjs";
import { SourceFiles } from "./prepare/source-files.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const services = readdirSync(join(root, "services"));
const programs = services.map((name) => join(root, "services", name, "src", "main.ts")).filter((main) => existsSync(main));
const dist = join(root, "dist");
/**
 * A program that runs imports some of its parts late: those of the builds before are kept for it. Names are used again, since Node
 * keeps the compiled code of each.
 */
const BUILDS = ["build-1", "build-2", "build-3", "build-4", "build-5"];
/** They find files beside their modules by `__dirname`. */
const LEFT_OUT = [/^@cedar-policy\//, /^@grpc\//, /^pino$/, /^undici$/];

if (programs.some((main) => bundledMain(main) === main)) {
  say("bundling the programs (a few seconds, once) …");
  await bundlePrograms().catch((cause) => {
    say(`the programs could not be bundled, and are started from their sources, which takes longer:\n${cause.message}`);
  });
}

async function bundlePrograms() {
  const { rolldown } = await import("rolldown");
  const build = join(dist, oldestBuild());
  rmSync(build, { recursive: true, force: true });
  const files = new SourceFiles(root);
  const bundler = await rolldown({
    input: Object.fromEntries(programs.map((main) => [programName(main), main])),
    cwd: root,
    platform: "node",
    external: LEFT_OUT,
    logLevel: "silent",
    plugins: [files.plugin, keepPlaces(build)],
  });
  await bundler.write({ dir: build, format: "esm", entryFileNames: "[name].js", chunkFileNames: "part-[name].js" });
  await bundler.close();
  for (const main of programs)
    writeRecord(main, { bundle: relative(root, join(build, `${programName(main)}.js`)), sources: files.behind(main) });
}

function programName(main) {
  return basename(dirname(dirname(main)));
}

/** A module that finds files beside itself finds them still: all parts of a build lie in its folder, and none in one below. */
function keepPlaces(build) {
  const placeOf = (path) => `new URL(${JSON.stringify(relative(build, path))}, import.meta.url)`;
  const toPath = 'process.getBuiltinModule("node:url").fileURLToPath';
  const inWords = {
    url: (id) => `${placeOf(id)}.href`,
    filename: (id) => `${toPath}(${placeOf(id)})`,
    dirname: (id) => `${toPath}(${placeOf(dirname(id))})`,
  };
  const handler = function (code, id) {
    if (/\b__(dirname|filename)\b/.test(code)) this.error(`${id} finds files by __dirname: its package has to be left out`);
    return { code: code.replaceAll(/\bimport\.meta\.(url|filename|dirname)\b/g, (_, what) => inWords[what](id)) };
  };
  return { name: "keep-places", transform: { filter: { code: /\bimport\.meta\.|\b__(dirname|filename)\b/ }, handler } };
}

/** In one step: a program that starts meanwhile finds the record of before, or this one. */
function writeRecord(main, record) {
  const file = bundleRecordFile(main, root);
  writeFileSync(`${file}.new`, JSON.stringify(record));
  renameSync(`${file}.new`, file);
}

/** One that is not there is older than any. */
function oldestBuild() {
  const builtAt = (name) => statSync(join(dist, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return BUILDS.toSorted((one, other) => builtAt(one) - builtAt(other))[0];
}
