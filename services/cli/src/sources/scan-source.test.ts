import { findTranscripts } from "@hlvm/transcripts/find-transcripts";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claudeCodeTurns } from "@hlvm/transcripts/claude-code-turns";
import type { SessionBatch } from "./send-file.ts";
import { scanSource, type ScanResult } from "./scan-source.ts";
import { SourceBook, type Source } from "./source-book.ts";

const READER = { files: /\.jsonl$/, read: claudeCodeTurns };
let folder: string;
let book: SourceBook;
/** What a mesh would hold: the texts of each session by the turns' keys, and how often one was sent. */
let held: Map<string, Map<string, { text: string; ordinal: number }>>;
let batches: SessionBatch[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-scan-"));
  book = new SourceBook(join(folder, "hlvm"), "local");
  book.put({ tool: "claude-code", folders: [join(folder, "projects")], leftOut: [], fields: undefined });
  held = new Map();
  batches = [];
});
afterEach(() => {
  book[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

const FIND = (within: string) => findTranscripts(within, READER.files);
const line = (key: string, text: string, cwd = "/src"): string =>
  `${JSON.stringify({ type: "user", uuid: key, timestamp: "2026-11-01T12:00:00Z", cwd, message: { role: "user", content: text } })}\n`;
function put(name: string, content: string): string {
  const file = join(folder, "projects", name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/** Takes what is new, as a mesh does. */
async function store(batch: SessionBatch) {
  batches.push(batch);
  const session = held.get(batch.session) ?? new Map<string, { text: string; ordinal: number }>();
  held.set(batch.session, session);
  const added = batch.turns.filter(({ key }) => !session.has(key)).length;
  const changed = batch.turns.filter(({ key, text }) => session.has(key) && session.get(key)!.text !== text).length;
  for (const { key, text, ordinal } of batch.turns) session.set(key, { text, ordinal });
  return { added, changed, unchanged: batch.turns.length - added - changed, isForgotten: false };
}
async function scan(now = 0, send = store): Promise<ScanResult> {
  const source: Source = book.list()[0]!;
  const ports = { book, now: () => now, onFile: () => undefined, signal: new AbortController().signal };
  return scanSource(source, { find: FIND, read: READER.read }, { ...ports, store: send });
}
const textsOf = (session: string): string[] =>
  [...held.get(session)!.values()].sort((a, b) => a.ordinal - b.ordinal).map(({ text }) => text);

describe("a scan", () => {
  it("reads what is new, and leaves alone what is as before", async () => {
    const file = put("a/s1.jsonl", line("1", "One") + line("2", "Two"));
    expect(await scan()).toMatchObject({ files: 1, sessions: 1, added: 2 });
    expect(await scan()).toMatchObject({ files: 1, unchangedFiles: 1, sessions: 0, added: 0 });
    appendFileSync(file, line("3", "Three"));
    batches = [];
    expect(await scan()).toMatchObject({ added: 1, unchanged: 0 });
    expect(batches.flatMap(({ turns }) => turns.map(({ key, ordinal }) => [key, ordinal]))).toEqual([["3", 2]]);
    expect(textsOf("s1")).toEqual(["One", "Two", "Three"]);
  });

  it("waits with half a line", async () => {
    const file = put("s.jsonl", line("1", "One") + line("2", "Two").slice(0, 30));
    expect(await scan()).toMatchObject({ added: 1, notUnderstood: 0 });
    writeFileSync(file, line("1", "One") + line("2", "Two"));
    expect(await scan()).toMatchObject({ added: 1 });
  });

  it("sends a session whole where what was sent is another now, or gone", async () => {
    const file = put("s.jsonl", line("1", "One") + line("2", "Two") + line("3", "Three"));
    await scan();
    writeFileSync(file, line("1", "One") + line("2", "Two, but else") + line("3", "Three"));
    expect(await scan()).toMatchObject({ added: 0, changed: 1, unchanged: 2 });
    writeFileSync(file, line("3", "Three") + line("4", "Four"));
    expect(await scan()).toMatchObject({ added: 1, unchanged: 1 });
    expect([...held.get("s")!.keys()]).toEqual(["1", "2", "3", "4"]);
  });

  it("replaces secrets before anything is sent, the same ones each time", async () => {
    const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const file = put(
      "s.jsonl",
      line("1", `push with ${token}`) + line("2", "then AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKE"),
    );
    await scan();
    expect(JSON.stringify(batches)).not.toMatch(/ghp_a1B2|wJalrXUtnFEMI/);
    appendFileSync(file, line("3", "Three"));
    expect(await scan()).toMatchObject({ added: 1, changed: 0, unchanged: 0 });
  });

  it("leaves out the folders that a person left out, and what is beside one of like name not", async () => {
    book.put({ tool: "claude-code", folders: [join(folder, "projects")], leftOut: ["/src/private"], fields: undefined });
    put("s.jsonl", line("1", "Hidden", "/src/private/deep") + line("2", "Seen", "/src/privateer"));
    await scan();
    expect(textsOf("s")).toEqual(["Seen"]);
  });

  it("sends batches that a request can hold", async () => {
    put("s.jsonl", Array.from({ length: 450 }, (_, at) => line(String(at), `Turn ${at}`)).join("") + line("long", "x".repeat(90_000)));
    await scan();
    expect(batches.map(({ turns }) => turns.length)).toEqual([200, 200, 51]);
    expect(batches.at(-1)!.turns.at(-1)!.text).toHaveLength(40_000);
  });
});

describe("a file that changes while it is read", () => {
  /** The reader, with something done to the file behind its first turn. */
  const changing = (change: (file: string) => void) =>
    async function* (file: string, tally: Parameters<typeof claudeCodeTurns>[1]) {
      let isChanged = false;
      for await (const turn of claudeCodeTurns(file, tally)) {
        yield turn;
        if (!isChanged) change(file);
        isChanged = true;
      }
    };
  const scanWith = (read: typeof claudeCodeTurns): Promise<ScanResult> =>
    scanSource(
      book.list()[0]!,
      { find: FIND, read },
      { book, now: () => 0, onFile: () => undefined, signal: new AbortController().signal, store },
    );
  const LONG = Array.from({ length: 5_000 }, (_, at) => line(String(at), `Turn ${at}`)).join("");

  it("has nothing lost or doubled where it grows", async () => {
    put("s.jsonl", LONG);
    await scanWith(changing((file) => appendFileSync(file, line("last", "Last") + line("half", "Half").slice(0, 20))));
    expect(await scan()).toMatchObject({ failed: 0, changed: 0, notUnderstood: 0 });
    expect(textsOf("s")).toEqual([...Array.from({ length: 5_000 }, (_, at) => `Turn ${at}`), "Last"]);
    expect(await scan()).toMatchObject({ unchangedFiles: 1 });
  });

  it("has nothing lost where it is cut, or written anew", async () => {
    put("s.jsonl", LONG);
    await scanWith(changing((file) => truncateSync(file, 70_000)));
    await scanWith(changing((file) => writeFileSync(file, line("0", "Turn 0") + line("new", "New"))));
    expect(await scan()).toMatchObject({ failed: 0 });
    expect(held.get("s")!.get("new")!.text).toBe("New");
    expect(held.get("s")!.get("0")!.text).toBe("Turn 0");
    expect(book.failed("claude-code")).toEqual([]);
  });

  it("is no failure where it is taken away", async () => {
    const file = put("s.jsonl", line("1", "One"));
    put("t.jsonl", line("1", "One"));
    const vanishing = async function* (path: string, tally: Parameters<typeof claudeCodeTurns>[1]) {
      if (path === file) rmSync(path);
      yield* claudeCodeTurns(path, tally);
    };
    expect(await scanWith(vanishing)).toMatchObject({ files: 2, failed: 0, added: 1 });
    expect(book.failed("claude-code")).toEqual([]);
  });
});

describe("a file of a version that is not known", () => {
  const unknown = (count: number): string =>
    Array.from(
      { length: count },
      (_, at) => `${JSON.stringify({ kind: "turn", v: 9, uuid: `n${at}`, body: { said: `Turn ${at}` } })}\n`,
    ).join("");

  it("is counted, holds up nothing, and is no turn", async () => {
    put("new.jsonl", unknown(50));
    put("old.jsonl", line("1", "One"));
    expect(await scan()).toMatchObject({ files: 2, failed: 0, added: 1, read: 51, notUnderstood: 50 });
    expect([...held.keys()]).toEqual(["old"]);
  });

  it("is read once more by a release that knows it, though it has not changed", async () => {
    const file = put("new.jsonl", line("0", "Before") + unknown(2));
    await scan();
    expect(await scan()).toMatchObject({ unchangedFiles: 1 });
    book[Symbol.dispose]();
    const kept = new DatabaseSync(join(folder, "hlvm", "sources", "local.db"));
    kept.exec("PRAGMA user_version = 0");
    kept.close();
    book = new SourceBook(join(folder, "hlvm"), "local");
    const knowing = async function* (path: string, tally: Parameters<typeof claudeCodeTurns>[1]) {
      yield* claudeCodeTurns(path, tally);
      for (const text of ["Turn 0", "Turn 1"]) yield { session: "new", key: text, speaker: "person" as const, saidAt: undefined, text };
    };
    const ports = { book, now: () => 0, onFile: () => undefined, signal: new AbortController().signal, store };
    const result = await scanSource(book.list()[0]!, { find: FIND, read: knowing }, ports);
    expect(result).toMatchObject({ unchangedFiles: 0, added: 2, changed: 0, unchanged: 0 });
    expect(textsOf("new")).toEqual(["Before", "Turn 0", "Turn 1"]);
    expect(await scan()).toMatchObject({ unchangedFiles: 1 });
    expect(statSync(file).size).toBeGreaterThan(0);
  });
});

describe("a file that cannot be read", () => {
  async function* broken(file: string): AsyncGenerator<never> {
    yield* await Promise.reject<never[]>(new Error(`${file} is on fire`));
  }
  const failing = (now: number) =>
    scanSource(
      book.list()[0]!,
      { find: FIND, read: broken },
      { book, now: () => now, onFile: () => undefined, signal: new AbortController().signal, store },
    );

  it("is counted with its reason, and the others are read", async () => {
    put("bad.jsonl", line("1", "One"));
    put("good.jsonl", line("1", "One"));
    const read = async function* (file: string, tally: Parameters<typeof claudeCodeTurns>[1]) {
      yield* file.endsWith("bad.jsonl") ? broken(file) : claudeCodeTurns(file, tally);
    };
    const ports = { book, now: () => 0, onFile: () => undefined, signal: new AbortController().signal, store };
    expect(await scanSource(book.list()[0]!, { find: FIND, read }, ports)).toMatchObject({ files: 2, failed: 1, added: 1 });
    expect(book.failed("claude-code")).toEqual([
      { path: expect.stringContaining("bad.jsonl"), failures: 1, reason: expect.stringMatching(/bad.jsonl is on fire/) },
    ]);
  });

  it("is tried again later and later, then set aside until it changes", async () => {
    const file = put("bad.jsonl", line("1", "One"));
    expect(await failing(0)).toMatchObject({ failed: 1 });
    expect(await failing(60_000)).toMatchObject({ failed: 0, setAside: 1 });
    let now = 0;
    for (let failures = 2; failures <= 5; failures++) expect(await failing((now += 3_600_000))).toMatchObject({ failed: 1 });
    expect(await failing(now + 1e12)).toMatchObject({ failed: 0, setAside: 1 });
    utimesSync(file, 1, 2);
    expect(await failing(now)).toMatchObject({ failed: 1 });
    expect(await scan(now + 3_600_000)).toMatchObject({ added: 1, failed: 0 });
    expect(book.failed("claude-code")).toEqual([]);
  });

  it("is told of with the first of many, and no more once it is gone", async () => {
    const files = Array.from({ length: 30 }, (_, at) => put(`bad-${at}.jsonl`, line("1", "One")));
    expect(await failing(0)).toMatchObject({ failed: 30 });
    expect(book.failed("claude-code")).toHaveLength(20);
    expect(book.countFailed("claude-code")).toBe(30);
    for (const file of files.slice(1)) rmSync(file);
    await failing(1);
    expect(book.failed("claude-code")).toEqual([expect.objectContaining({ path: files[0] })]);
  });

  it("is not set aside by a clock that goes back", async () => {
    put("bad.jsonl", line("1", "One"));
    await failing(1e12);
    expect(await scan(5)).toMatchObject({ added: 1 });
  });
});

it("ends with the mesh's error where the mesh does not take a batch, and blames no file", async () => {
  put("s.jsonl", line("1", "One"));
  await expect(scan(0, () => Promise.reject(new Error("unreachable")))).rejects.toThrow("unreachable");
  expect(book.failed("claude-code")).toEqual([]);
  expect(await scan()).toMatchObject({ added: 1 });
});

it("holds each turn once, whatever was cut off and written in between", async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("append" as const), turns: fc.integer({ min: 1, max: 230 }) }),
    fc.record({ kind: fc.constant("cut" as const), afterBatches: fc.integer({ min: 0, max: 2 }) }),
    fc.record({ kind: fc.constant("scan" as const) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.uuid(), async (steps, session) => {
      const file = put(`${session}.jsonl`, "");
      let written = 0;
      const append = (turns: number): void => {
        for (const end = written + turns; written < end; written++) appendFileSync(file, line(String(written), `Turn ${written}`));
      };
      append(3);
      for (const one of steps) {
        if (one.kind === "append") append(one.turns);
        else if (one.kind === "scan") await scan();
        else {
          let left = one.afterBatches;
          // The mesh may have taken the batch whose answer is lost.
          await scan(0, async (batch) => {
            const stored = await store(batch);
            if (left-- === 0) throw new Error("cut");
            return stored;
          }).catch(() => undefined);
        }
      }
      await scan();
      expect(textsOf(session)).toEqual(Array.from({ length: written }, (_, at) => `Turn ${at}`));
    }),
    { numRuns: 40 },
  );
});
