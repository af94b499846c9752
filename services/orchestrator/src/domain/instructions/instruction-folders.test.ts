import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { touchedFolders } from "./instruction-folders.ts";

const WORKSPACE = "/home/ada/shop";
const call = (tool: string, given: unknown) => ({ tool, argumentsJson: typeof given === "string" ? given : JSON.stringify(given) });
const touched = (...calls: ReturnType<typeof call>[]): string[] => touchedFolders(calls, WORKSPACE);

describe("touchedFolders", () => {
  it("gives the folders on the way to a file, and not the top", () => {
    expect(touched(call("read_file", { path: "a/b/c.ts" }))).toEqual(["a", "a/b"]);
    expect(touched(call("read_file", { path: "c.ts" }), call("list_files", {}))).toEqual([]);
  });

  it("takes the path of a folder tool, and where a command runs, for the folder itself", () => {
    expect(touched(call("list_files", { path: "./a/" }), call("shell_exec", { command: "ls", working_directory: "b/c" }))).toEqual([
      "a",
      "b",
      "b/c",
    ]);
  });

  it("reads both absolute names of the workspace, and leaves alone what is outside", () => {
    for (const root of ["/workspace", WORKSPACE]) expect(touched(call("read_file", { path: `${root}/a/b.ts` }))).toEqual(["a"]);
    for (const path of ["/etc/passwd", "../x/y", "a/../../x/y", `${WORKSPACE}-evil/x/y`])
      expect(touched(call("read_file", { path }))).toEqual([]);
  });

  it("gets along with whatever a model writes, and gives no folder outside", () => {
    const path = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom("..", ".", "a", "b", "/", ""), { maxLength: 12 }).map((all) => all.join("/")),
    );
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            path.map((value) => JSON.stringify({ path: value })),
          ),
          { maxLength: 8 },
        ),
        (all) => {
          const folders = touched(...all.map((one) => call("read_file", one)));
          expect(folders.length).toBeLessThanOrEqual(64);
          for (const folder of folders) expect(folder).not.toMatch(/^\/|(^|\/)\.\.?(\/|$)|^$/);
        },
      ),
    );
  });
});
