import { readFileSync } from "node:fs";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { PermissionMode, PermissionModeSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { EventSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { stopReasonWords } from "@hlvm/proto/hlvm/session/v1/event_words";
import { EVENT_DESCRIPTIONS } from "./event-descriptions.ts";
import { eventType } from "./event-type.ts";
import { permissionModeOf, permissionModeWord } from "./permission-mode.ts";
import { PERMISSION_MODES } from "./permission-mode-name.ts";
import { runLine } from "./run-line.ts";

type EventCase = Exclude<Event["payload"]["case"], undefined>;

/** The events that have lines of their own. */
const LINES: Readonly<Record<string, string>> = { message_delta: "token", run_stopped: "final" };
const payloads = EventSchema.oneofs.find(({ localName }) => localName === "payload")!.fields;

it("has a name for every permission mode of the contract, and finds the mode by it", () => {
  const modes = PermissionModeSchema.values
    .map(({ number }) => number as PermissionMode)
    .filter((mode) => mode !== PermissionMode.UNSPECIFIED);
  expect(modes.map(permissionModeWord)).toEqual(PERMISSION_MODES);
  expect(PERMISSION_MODES.map(permissionModeOf)).toEqual(modes);
  expect(PERMISSION_MODES).toContain("acceptEdits");
});

it.each(payloads.map(({ name, localName }) => [name, localName]))(
  "has a line for the contract's event %s, under its name",
  (name, localName) => {
    const payload = { case: localName, value: {} } as MessageInitShape<typeof EventSchema>["payload"];
    const line = runLine(create(EventSchema, { payload }));
    expect(line?.type === "agent_event" ? line.event.type : line?.type).toBe(LINES[name] ?? name);
    expect(fieldNames(line).filter((field) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(field))).toEqual([]);
  },
);

function fieldNames(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(fieldNames);
  return Object.entries(value).flatMap(([name, inner]) => [name, ...fieldNames(inner)]);
}

it("describes every event in the documentation as the command does", () => {
  const documented = readFileSync(new URL("../../../docs/ndjson.md", import.meta.url), "utf8");
  const rows = Object.entries(EVENT_DESCRIPTIONS).map(([name, text]) => `| \`${eventType(name as EventCase)}\` | ${text} |`);
  expect(rows.filter((row) => !documented.includes(row))).toEqual([]);
  for (const word of stopReasonWords) expect(documented).toContain(`\`${word}\``);
});
