// Generates the contracts' code again into the folder given, and says what in proto/gen is not the same.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const scratch = process.argv[2];
const template = join(scratch, "buf.gen.yaml");
writeFileSync(template, readFileSync("proto/buf.gen.yaml", "utf8").replaceAll("out: proto/gen", `out: ${join(scratch, "gen")}`));
execFileSync("buf", ["generate", "--template", template], { stdio: "inherit" });

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
const fresh = filesOf(join(scratch, "gen"));
const stale = new Set([...fresh, ...filesOf("proto/gen")])
  .values()
  .filter((file) => read("proto/gen", file) !== read(join(scratch, "gen"), file));
const names = [...stale];
if (names.length > 0) {
  console.error(`Not what the contracts say: ${names.join(", ")}. Run \`npm run gen\`.`);
  process.exit(1);
}

function read(folder, file) {
  try {
    return readFileSync(join(folder, file), "utf8");
  } catch {
    return undefined;
  }
}
