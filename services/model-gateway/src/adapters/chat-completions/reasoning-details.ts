/** OpenRouter's reasoning in parts, each of which may come in pieces: put together, they go back as they would have come whole. */
export class ReasoningDetails {
  readonly #parts: Record<string, unknown>[] = [];

  get whole(): readonly object[] {
    return this.#parts;
  }

  /** @returns what of it is text to be shown */
  add(pieces: readonly object[]): string {
    let text = "";
    for (const piece of pieces) {
      if (typeof piece !== "object" || piece === null) continue;
      const fields = piece as Record<string, unknown>;
      text += textOf(fields);
      const last = this.#parts.at(-1);
      if (last !== undefined && continues(last, fields)) join(last, fields);
      else this.#parts.push({ ...fields });
    }
    return text;
  }
}

const GROWING: ReadonlySet<string> = new Set(["text", "summary", "data"]);

function continues(last: Readonly<Record<string, unknown>>, next: Readonly<Record<string, unknown>>): boolean {
  return last.type === next.type && last.index === next.index && (next.id === undefined || next.id === null || last.id === next.id);
}

function join(last: Record<string, unknown>, next: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(next)) {
    const before = last[name];
    if (GROWING.has(name) && typeof before === "string" && typeof value === "string") last[name] = before + value;
    else if (value !== null && value !== undefined) last[name] = value;
  }
}

function textOf({ text, summary }: Readonly<Record<string, unknown>>): string {
  if (typeof text === "string") return text;
  return typeof summary === "string" ? summary : "";
}
