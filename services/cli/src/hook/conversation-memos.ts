import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "@hlvm/mesh/make-folder";

/** What a conversation has before it from us. */
export interface ConversationMemo {
  readonly shown: readonly string[];
  /** How many pointers it got in all; compaction takes them from before it, and does not give it more. */
  readonly pointers: number;
}

/** Where it is kept from one event to the next. */
export interface ConversationMemos {
  /** @throws Error where it is there and cannot be read; the next call begins anew */
  load(conversation: string): ConversationMemo;
  /** @throws Error */
  save(conversation: string, memo: ConversationMemo): void;
}

const NONE: ConversationMemo = { shown: [], pointers: 0 };
const MOST_MEMOS = 500;
const KEPT_MILLISECONDS = 30 * 86_400_000;
const LARGEST_BYTES = 64 * 1024;

/** In `hooks/memos` of the HLVM directory, a file a conversation. @param kind keeps tools and modes apart */
export function conversationMemos(directory: string, kind: string): ConversationMemos {
  const folder = join(directory, "hooks", "memos");
  const fileOf = (conversation: string): string =>
    join(folder, `${createHash("sha256").update(`${kind}\n${conversation}`).digest("hex").slice(0, 32)}.json`);
  return {
    load: (conversation) => {
      const file = fileOf(conversation);
      if (statSync(file, { throwIfNoEntry: false }) === undefined) return NONE;
      try {
        if (statSync(file).size > LARGEST_BYTES) throw new Error("the memo is too large");
        return valid(JSON.parse(readFileSync(file, "utf8")));
      } catch (thrown) {
        rmSync(file, { recursive: true, force: true });
        throw thrown;
      }
    },
    save: (conversation, memo) => {
      const file = fileOf(conversation);
      makeFolder(folder);
      if (statSync(file, { throwIfNoEntry: false }) === undefined) sweep(folder);
      const draft = `${file}.${process.pid}`;
      try {
        writeFileSync(draft, JSON.stringify(memo), { mode: 0o600 });
        renameSync(draft, file);
      } catch (thrown) {
        rmSync(draft, { force: true });
        throw thrown;
      }
    },
  };
}

function valid(memo: unknown): ConversationMemo {
  const { shown, pointers } = (memo ?? {}) as Partial<ConversationMemo>;
  if (!Array.isArray(shown) || !shown.every((id) => typeof id === "string")) throw new Error("the memo is malformed");
  if (typeof pointers !== "number" || !Number.isSafeInteger(pointers) || pointers < 0) throw new Error("the memo is malformed");
  return { shown, pointers };
}

/** Those of conversations long past, and the oldest where there are very many. */
function sweep(folder: string): void {
  const files = readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((file) => {
      const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
      return since === undefined ? [] : [{ file, since }];
    })
    .toSorted((one, other) => other.since - one.since);
  const old = Date.now() - KEPT_MILLISECONDS;
  for (const [index, { file, since }] of files.entries())
    if (since < old || index >= MOST_MEMOS - 1) rmSync(file, { recursive: true, force: true });
}
