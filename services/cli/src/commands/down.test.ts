import { expect, it } from "vitest";
import { goOnNotes } from "./down.ts";

it("names five of the runs that go on when the mesh is up again, and says where the others are", () => {
  const sessionIds = ["a", "b", "c", "d", "e", "f"];
  const named = goOnNotes(sessionIds.slice(0, 5));
  expect(named).toHaveLength(5);
  expect(named[4]).toBe("The run in session e goes on when HLVM is up again; `hlvm session cancel e` ends it.");
  expect(goOnNotes(sessionIds)).toEqual([...named, "So do others: `hlvm session list --state running` shows them then."]);
  expect(goOnNotes([])).toEqual([]);
});
