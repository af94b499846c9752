// Prints how long the project's source files are: the median, and those over 300 lines. A report, not a check.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const LONG = 300;

const files = execFileSync("git", ["ls-files", "*.ts", "*.mjs"], { encoding: "utf8" })
  .split("\n")
  .filter((path) => path !== "" && !path.startsWith("proto/gen/"));
const sizes = files
  .map((path) => ({ path, lines: readFileSync(path, "utf8").split("\n").length - 1 }))
  .sort((one, other) => other.lines - one.lines);
const long = sizes.filter(({ lines }) => lines > LONG);

console.log(`${sizes.length} source files, median ${sizes[Math.floor(sizes.length / 2)].lines} lines, ${long.length} over ${LONG}`);
for (const { path, lines } of long) console.log(`  ${lines} ${path}`);
