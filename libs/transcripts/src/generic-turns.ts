import { basename } from "node:path";
import { jsonRecords, objectOf, textOf } from "./json-records.ts";
import type { ReadTurn, Tally, TurnReader } from "./read-turn.ts";
import { timeOf } from "./time-of.ts";
import { withoutInjected } from "./without-injected.ts";

/** The fields of one line; a point leads into an object: `message.content`. */
export interface GenericFields {
  readonly text: string;
  readonly role: string;
  readonly time: string;
  readonly session: string;
  readonly key: string;
}

const SPEAKERS: ReadonlyMap<string, ReadTurn["speaker"]> = new Map([
  ["user", "person"],
  ["human", "person"],
  ["person", "person"],
  ["assistant", "assistant"],
  ["model", "assistant"],
  ["ai", "assistant"],
  ["bot", "assistant"],
  ["tool", "tool"],
  ["function", "tool"],
]);

/** Any program's JSON, one turn a line. A role that is not known is the harness's. */
export function genericTurns(fields: GenericFields): TurnReader {
  return async function* (file: string, tally: Tally) {
    for await (const { number, value } of jsonRecords(file, tally)) {
      const at = (path: string): unknown => path.split(".").reduce<unknown>((inner, name) => objectOf(inner)?.[name], value);
      const text = withoutInjected(textOf(at(fields.text)));
      if (text === "") {
        tally.notUnderstood++;
        continue;
      }
      const named = (path: string): string => (["string", "number"].includes(typeof at(path)) ? String(at(path)) : "");
      yield {
        session: named(fields.session) || basename(file),
        key: named(fields.key) || String(number),
        speaker: SPEAKERS.get(textOf(at(fields.role)).toLowerCase()) ?? "harness",
        saidAt: timeOf(at(fields.time)),
        text,
      };
    }
  };
}
