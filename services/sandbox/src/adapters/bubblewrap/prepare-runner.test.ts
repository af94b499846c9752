import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prepareRunner } from "./prepare-runner.ts";

let folder: string;
let prepared: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-prepare-"));
  prepared = join(folder, "runner.cjs");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Prepares these modules, by their paths. */
function prepare(modules: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(modules)) {
    mkdirSync(dirname(join(folder, "source", path)), { recursive: true });
    writeFileSync(join(folder, "source", path), text);
  }
  prepareRunner(join(folder, "source"), prepared);
}

const run = (): string => execFileSync(process.execPath, [prepared], { encoding: "utf8" });

describe("the prepared runner", () => {
  it("is one file that does what its modules do, each run once and after those that it imports", () => {
    prepare({
      "main.ts": `
import { join as joined } from "node:path";
import {
  type Shape,
  Circle,
  areas,
} from "./shapes/circle.ts";
import type { Unused } from "./not-there.ts";
import { count, LIMIT } from "./count.ts";
const shapes: Shape[] = [new Circle(1), new Circle(2)];
const print = (text: string): void => console.log(text);
export interface Printed { readonly text: string }
print([joined("a", "b"), ...areas(shapes), count(), LIMIT].join(" "));
`,
      "shapes/circle.ts": `
import { count } from "../count.ts";
export interface Shape { readonly radius: number }
export class Circle implements Shape {
  readonly radius: number;
  constructor(radius: number) { this.radius = radius; count(); }
}
const join = (shape: Shape): number => shape.radius ** 2;
export function* areas(shapes: readonly Shape[]): Generator<number> { for (const shape of shapes) yield join(shape); }
`,
      "count.ts": `
let calls = 0;
export const LIMIT = 7;
console.log("counting");
export function count(): number { return ++calls; }
export async function later(): Promise<void> {}
`,
    });
    expect(run()).toBe("counting\na/b 1 4 3 7\n");
  });

  it("is made anew, and leaves the file of runners that are up as it was", () => {
    const main = `import { word } from "./word.ts";\nconsole.log(word);`;
    prepare({ "main.ts": main, "word.ts": `export const word = "old";` });
    const up = openSync(prepared, "r");
    prepare({ "main.ts": main, "word.ts": `export const word = "new";` });
    expect(readFileSync(up, "utf8")).toContain('"old"');
    closeSync(up);
    expect(run()).toBe("new\n");
  });

  it("is refused where a module cannot be joined, with what is in its way", () => {
    expect(() => prepare({ "main.ts": `import path from "node:path";\npath.join("a");` })).toThrow(
      'the runner\'s main.ts has a statement that cannot be joined: import path from "node:path";',
    );
    const circle = { "main.ts": `import { a } from "./a.ts";\na();`, "a.ts": `import { b } from "./b.ts";\nexport const a = b;` };
    expect(() => prepare({ ...circle, "b.ts": `import { a } from "./a.ts";\nexport const b = () => a;` })).toThrow(
      "the runner's a.ts imports itself by way of others",
    );
    expect(() => readFileSync(prepared)).toThrow("ENOENT");
  });
});
