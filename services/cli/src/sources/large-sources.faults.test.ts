import { closeSync, ftruncateSync, linkSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { claudeCodeTurns } from "@hlvm/transcripts/claude-code-turns";
import { findTranscripts } from "@hlvm/transcripts/find-transcripts";
import type { SessionBatch } from "./send-file.ts";
import { scanSource, type ScanResult } from "./scan-source.ts";
import { SourceBook } from "./source-book.ts";

const GIBIBYTE = 1024 ** 3;
/** Beyond what the process had before: a line of 16 MiB several times over, and nothing that grows with a source. */
const MOST_MEMORY = 192 * 1024 ** 2;
const FILES = 20_000;

let folder: string;
let projects: string;
let book: SourceBook;
/** How often each turn was sent. */
let sent: Map<string, number>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-large-"));
  projects = join(folder, "projects");
  mkdirSync(projects);
  book = new SourceBook(join(folder, "hlvm"), "local");
  book.put({ tool: "claude-code", folders: [projects], leftOut: [], fields: undefined });
  sent = new Map();
});
afterEach(() => {
  book[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

const line = (key: string, content: unknown): string =>
  `${JSON.stringify({ type: "user", uuid: key, timestamp: "2026-11-01T12:00:00Z", message: { role: "user", content } })}\n`;

function scan(signal = new AbortController().signal, onFile: (result: ScanResult) => void = () => undefined): Promise<ScanResult> {
  const store = (batch: SessionBatch) => {
    for (const { key } of batch.turns) sent.set(`${batch.session} ${key}`, (sent.get(`${batch.session} ${key}`) ?? 0) + 1);
    return Promise.resolve({ added: batch.turns.length, changed: 0, unchanged: 0, isForgotten: false });
  };
  const transcripts = { find: (within: string) => findTranscripts(within, /\.jsonl$/), read: claudeCodeTurns };
  return scanSource(book.list()[0]!, transcripts, { book, store, now: () => 0, onFile, signal });
}

/** The most memory that this process has had, in bytes. */
const peak = (): number => process.resourceUsage().maxRSS * 1024;

it("reads a file of 2 GiB, of which one line has nearly all, in little memory", async () => {
  const file = openSync(join(projects, "s.jsonl"), "w");
  writeSync(file, line("first", "One"));
  ftruncateSync(file, 2 * GIBIBYTE);
  writeSync(file, `\n${line("last", "Two")}`, 2 * GIBIBYTE);
  closeSync(file);
  const before = peak();
  expect(await scan()).toMatchObject({ added: 2, dropped: 1, failed: 0, notUnderstood: 0 });
  expect(peak() - before).toBeLessThan(MOST_MEMORY);
  expect([...sent.keys()]).toEqual(["s first", "s last"]);
});

it("reads 300 MB of pasted pictures and long results in little memory", async () => {
  const picture = { type: "image", source: { type: "base64", data: "iVBORw0KGgo".repeat(100_000) } };
  const file = openSync(join(projects, "s.jsonl"), "w");
  for (let at = 0; at < 270; at++) writeSync(file, line(`p${at}`, [{ type: "text", text: `Picture ${at}` }, picture]));
  for (let at = 0; at < 30; at++)
    writeSync(file, line(`r${at}`, [{ type: "tool_result", tool_use_id: "t", content: "drwxr-xr-x 2 ada ada\n".repeat(5_000) }]));
  closeSync(file);
  const before = peak();
  expect(await scan()).toMatchObject({ added: 300, dropped: 0, failed: 0, notUnderstood: 0 });
  expect(peak() - before).toBeLessThan(MOST_MEMORY);
});

it("goes through 20,000 tiny files in little memory, and on where it was cut off", { timeout: 120_000 }, async () => {
  writeFileSync(join(folder, "one"), line("1", "One"));
  for (let at = 0; at < FILES; at++) {
    if (at % 1_000 === 0) mkdirSync(join(projects, String(at / 1_000)));
    linkSync(join(folder, "one"), join(projects, String(Math.floor(at / 1_000)), `s${at}.jsonl`));
  }
  const before = peak();
  const cut = new AbortController();
  const first = await scan(cut.signal, ({ files }) => files === FILES / 2 && cut.abort());
  expect(first).toMatchObject({ files: FILES / 2, added: FILES / 2 });
  expect(await scan()).toMatchObject({ files: FILES, unchangedFiles: FILES / 2, added: FILES / 2, failed: 0 });
  expect(peak() - before).toBeLessThan(MOST_MEMORY);
  expect(sent.size).toBe(FILES);
  expect([...sent.values()].every((times) => times === 1)).toBe(true);
});
