import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { EventSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { Screen } from "../terminal/screen.ts";
import { TextView } from "./text-view.ts";

function shownTo(options: { showsQuestions: boolean }, payloads: readonly MessageInitShape<typeof EventSchema>["payload"][]): string {
  let shown = "";
  const output = { write: (text: string) => void (shown += text) };
  const view = new TextView(new Screen(output, output, true), { verbose: false, ...options });
  for (const payload of payloads) view.event(create(EventSchema, { principal: "user:ada", payload }));
  return shown;
}

it.each([true, false])(
  "shows messages to a run when they are queued and when they are read, by whom (showsQuestions: %s)",
  (showsQuestions) => {
    const shown = shownTo({ showsQuestions }, [
      { case: "messageQueued", value: { text: "use the other file", interrupts: false } },
      { case: "messageQueued", value: { text: "stop\nthat\u001b[2J", interrupts: true } },
      { case: "userMessage", value: { text: "use the other file", author: "user:bob", queuedSequence: 7n } },
    ]);
    expect(shown).toBe(
      "user:ada, queued: use the other file\nuser:ada, interrupting: stop\nthat␛[2J\nuser:bob, read now: use the other file\n",
    );
  },
);

it("does not repeat a question to who asked it, and ends the open line of an answer before a message", () => {
  const asked = { case: "userMessage", value: { text: "what?" } } as const;
  expect(shownTo({ showsQuestions: false }, [asked])).toBe("");
  expect(shownTo({ showsQuestions: true }, [asked])).toBe("user:ada: what?\n");
  const shown = shownTo({ showsQuestions: false }, [
    { case: "messageDelta", value: { text: "an answ" } },
    { case: "messageQueued", value: { text: "wait", interrupts: false } },
    { case: "messageDelta", value: { text: "er" } },
  ]);
  expect(shown).toBe("an answ\nuser:ada, queued: wait\ner");
});
