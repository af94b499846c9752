import { PLACES } from "./places.ts";

/** A key or several, what they do, and where: everywhere if that is empty. */
export type PageKey = readonly [keys: string, what: string, path: string];

/** What keys do. Single letters can be switched off, and never do anything in a field. */
export const PAGE_KEYS: readonly PageKey[] = [
  ["Ctrl K", "go to, act, switch session, ask", ""],
  ["?", "these keys", ""],
  [`g then ${PLACES.map(({ key }) => key).join(" ")}`, `go to ${PLACES.map(({ name }) => name.toLowerCase()).join(", ")}`, ""],
  ["j k", "next, previous in the list", ""],
  ["Enter", "open", ""],
  ["/", "search or filter", ""],
  ["Esc", "close what is open, leave the field", ""],
  ["c", "write a question", "/"],
  ["e f s", "archive, fork, share the session that has the focus", "/"],
  [".", "follow the end", "/s/"],
  ["[ ]", "the question before, the next one", "/s/"],
  ["1", "changes", "/s/"],
  ["f u", "fork, undo to a turn", "/s/"],
  ["y s n", "approve once, for this session, deny", "/s/"],
  ["Esc Esc", "stop the run, from the field below it", "/s/"],
  ["y s n", "approve once, for this session, deny", "/approvals"],
  ["p e", "pin, edit the opened fact", "/memory"],
  ["Del z", "end it, undo what was done to it last", "/memory"],
  ["t", "live tail", "/audit"],
  ["e", "export", "/audit"],
  ["t", "try a task: which model a route takes", "/models"],
  ["d", "drain or resume the server that has the focus", "/models"],
];

/** Those that do something at an address. */
export function keysAt(path: string): readonly PageKey[] {
  return PAGE_KEYS.filter(([, , place]) => place === "" || (place === "/" ? path === "/" : path.startsWith(place)));
}
