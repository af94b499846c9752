import type { ProtectedChangeJson, ProtectedEntryJson } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import type { ProtectedChange } from "./guard.ts";
import { ABSENT, type ProtectedEntry } from "./protected-entry.ts";

const KINDS = {
  absent: "KIND_ABSENT",
  file: "KIND_FILE",
  link: "KIND_LINK",
  folder: "KIND_FOLDER",
  other: "KIND_OTHER",
} as const;

/** A change as it goes over the wire. */
export function changeToJson({ path, before, after, diff, restored }: ProtectedChange, withContent: boolean): ProtectedChangeJson {
  return { before: entryToJson(path, before, withContent), after: entryToJson(path, after, withContent), diff, restored };
}

export function changeFromJson({ before = {}, after = {} }: ProtectedChangeJson): Pick<ProtectedChange, "path" | "before" | "after"> {
  return { path: after.path ?? "", before: entryFromJson(before), after: entryFromJson(after) };
}

function entryToJson(path: string, { kind, mode, content }: ProtectedEntry, withContent: boolean): ProtectedEntryJson {
  return { path, kind: KINDS[kind], mode, content: withContent ? content?.toString("base64") : undefined };
}

function entryFromJson({ kind, mode = 0, content }: ProtectedEntryJson): ProtectedEntry {
  const [name] = Object.entries(KINDS).find(([, word]) => word === kind) ?? [];
  if (name === undefined || name === "absent") return ABSENT;
  const bytes = content === undefined ? undefined : Buffer.from(content, "base64");
  return { kind: name as ProtectedEntry["kind"], mode, content: bytes, stamp: "" };
}
