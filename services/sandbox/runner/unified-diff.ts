const CONTEXT_LINES = 3;

/** Whole lines, each with the line feed that ends it; only the last may have none. */
type Lines = readonly string[];

interface Change {
  /** The old lines from `first` up to, not including, `end` give way to `replacement`. */
  readonly first: number;
  readonly end: number;
  readonly replacement: Lines;
}

/**
 * The unified diff of an edit. What changed is known (the same piece, at these places), so nothing has to be searched for.
 * @param places offsets in `text` where `oldText` stands: at least one, ascending, not overlapping
 */
export function unifiedDiff(path: string, text: string, places: readonly number[], oldText: string, newText: string): string {
  const lines = splitLines(text);
  const changes = changesOf(text, lines, places, oldText.length, newText);
  const out = [`--- a/${path}`, `+++ b/${path}`];
  let shift = 0;
  for (let index = 0; index < changes.length;) {
    const group = [changes[index++]!];
    while (index < changes.length && changes[index]!.first - group.at(-1)!.end <= 2 * CONTEXT_LINES) group.push(changes[index++]!);
    out.push(hunkOf(lines, group, shift));
    for (const change of group) shift += growthOf(change);
  }
  return out.join("\n");
}

/** Widens each place to whole lines; places whose lines meet become one change. */
function changesOf(text: string, lines: Lines, places: readonly number[], oldLength: number, newText: string): Change[] {
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1)! + line.length);
  const changes: Change[] = [];
  let line = 0;
  for (let next = 0; next < places.length;) {
    while (starts[line + 1]! <= places[next]!) line++;
    const first = line;
    let at = starts[first]!;
    let replaced = "";
    let end = first + 1;
    for (;;) {
      const place = places[next];
      if (place !== undefined && place < starts[end]!) {
        replaced += text.slice(at, place) + newText;
        at = place + oldLength;
        next++;
        while (starts[end]! < at) end++;
        continue;
      }
      const whole = replaced + text.slice(at, starts[end]);
      const runsIntoNextLine = whole !== "" && !whole.endsWith("\n") && end < lines.length;
      if (!runsIntoNextLine) {
        changes.push(withoutSameEnds(lines, { first, end, replacement: splitLines(whole) }));
        break;
      }
      end++;
    }
    line = end - 1;
  }
  return changes;
}

function withoutSameEnds(lines: Lines, { first, end, replacement }: Change): Change {
  let from = 0;
  let to = replacement.length;
  while (first < end && from < to && lines[first] === replacement[from]) {
    first++;
    from++;
  }
  while (first < end && from < to && lines[end - 1] === replacement[to - 1]) {
    end--;
    to--;
  }
  return { first, end, replacement: replacement.slice(from, to) };
}

function hunkOf(lines: Lines, group: readonly Change[], shift: number): string {
  const from = Math.max(0, group[0]!.first - CONTEXT_LINES);
  const to = Math.min(lines.length, group.at(-1)!.end + CONTEXT_LINES);
  const body: string[] = [];
  let at = from;
  for (const change of group) {
    body.push(...marked(" ", lines.slice(at, change.first)));
    body.push(...marked("-", lines.slice(change.first, change.end)));
    body.push(...marked("+", change.replacement));
    at = change.end;
  }
  body.push(...marked(" ", lines.slice(at, to)));
  const oldCount = to - from;
  const newCount = oldCount + group.reduce((sum, change) => sum + growthOf(change), 0);
  return [`@@ -${position(from, oldCount)} +${position(from + shift, newCount)} @@`, ...body].join("\n");
}

function growthOf(change: Change): number {
  return change.replacement.length - (change.end - change.first);
}

/** Lines count from 1; of no lines at all the one before is named. */
function position(from: number, count: number): string {
  return `${count === 0 ? from : from + 1},${count}`;
}

function marked(mark: string, lines: Lines): string[] {
  return lines.map((line) => (line.endsWith("\n") ? mark + line.slice(0, -1) : `${mark}${line}\n\\ No newline at end of file`));
}

function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
