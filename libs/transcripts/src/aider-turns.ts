import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { linesOf } from "./lines-of.ts";
import type { ReadTurn, Tally } from "./read-turn.ts";
import { timeOf } from "./time-of.ts";
import { withoutInjected } from "./without-injected.ts";

const HEADING = /^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$/;

/**
 * aider: `.aider.chat.history.md`, Markdown. It names neither sessions nor turns: a session is a heading, its time is local, and a turn's
 * key is its text.
 */
export async function* aiderTurns(file: string, tally: Tally): AsyncGenerator<ReadTurn> {
  let session = "";
  let startedAt: Date | undefined;
  let speaker: ReadTurn["speaker"] = "assistant";
  let lines: string[] = [];
  const seen = new Map<string, number>();
  const turn = (): ReadTurn[] => {
    const text = withoutInjected(lines.join("\n"));
    lines = [];
    if (text === "" || text === "<blank>" || session === "") return [];
    const hash = createHash("sha256").update(`${speaker}\n${text}`).digest("hex").slice(0, 32);
    const times = (seen.get(hash) ?? 0) + 1;
    seen.set(hash, times);
    const command = speaker === "person" && text.startsWith("/");
    return [{ session, folder: dirname(file), key: `${hash}-${times}`, speaker: command ? "tool" : speaker, saidAt: startedAt, text }];
  };
  for await (const { text: line } of linesOf(file, tally)) {
    tally.read++;
    const started = HEADING.exec(line)?.[1];
    if (started !== undefined) {
      yield* turn();
      session = `${file} ${started}`;
      startedAt = timeOf(started.replace(" ", "T"));
      seen.clear();
      continue;
    }
    const next: ReadTurn["speaker"] = line.startsWith("#### ")
      ? "person"
      : line.startsWith("> ")
        ? "tool"
        : line.trim() === ""
          ? speaker
          : "assistant";
    if (next !== speaker) yield* turn();
    speaker = next;
    lines.push(line.replace(/^(?:#### |> )/, ""));
  }
  yield* turn();
}
