import { expect, it } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { SourceBook } from "./source-book.ts";
import { nextScanAt } from "./source-watch.ts";

const MINUTE = 60_000;
const SOURCE = { tool: "codex", folders: ["/home/ada/.codex"], leftOut: [], fields: undefined };

it("is due at once, then when its time has come, and later and later where scans fail", () => {
  using book = new SourceBook(temporaryFolder(), "local");
  book.put(SOURCE);
  const due = (now: number): string[] => book.due(now).map(({ tool }) => tool);
  expect(due(0)).toEqual([]);
  book.setWatch("codex", 10);
  expect(due(0)).toEqual(["codex"]);
  let now = 1e12;
  book.setTried("codex", now, "");
  expect([due(now), due(now + 9 * MINUTE), due(now + 10 * MINUTE)]).toEqual([[], [], ["codex"]]);
  // A clock that went back keeps nothing waiting.
  expect(due(now - 1)).toEqual(["codex"]);

  const pauses: number[] = [];
  for (let failures = 1; failures <= 7; failures++) {
    book.setTried("codex", now, "The mesh is away.");
    expect(book.watch("codex")).toMatchObject({ failures, reason: "The mesh is away." });
    pauses.push((nextScanAt(book.watch("codex")!) - now) / MINUTE);
    now = nextScanAt(book.watch("codex")!);
    expect([due(now - 1), due(now)]).toEqual([[], ["codex"]]);
  }
  expect(pauses).toEqual([20, 40, 80, 160, 320, 320, 320]);
  book.setTried("codex", now, "");
  expect(book.watch("codex")).toMatchObject({ failures: 0, reason: "" });
});

it("is scanned by itself no more once it is disabled, or added without", () => {
  using book = new SourceBook(temporaryFolder(), "local");
  book.put(SOURCE);
  book.setWatch("codex", 1_440);
  book.disable("codex");
  expect(book.due(1)).toEqual([]);
  book.put(SOURCE);
  expect(book.due(1)).toHaveLength(1);
  book.setTried("codex", 1, "away");
  expect(nextScanAt(book.watch("codex")!) - 1).toBe(1_440 * MINUTE);
  book.setWatch("codex", 0);
  expect([book.due(2), book.watch("codex")]).toEqual([[], undefined]);
});
