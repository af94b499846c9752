import { createHash } from "node:crypto";
import { formatPatch, OMIT_HEADERS, structuredPatch } from "diff";
import { ChangedFile_Content_Kind as Kind, type ChangedFile_Content } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";

const MODES: Readonly<Record<Kind, string>> = {
  [Kind.UNSPECIFIED]: "100644",
  [Kind.FILE]: "100644",
  [Kind.EXECUTABLE]: "100755",
  [Kind.LINK]: "120000",
};
/** Where git looks for a NUL to tell what is no text. */
const LOOKED_AT_BYTES = 8_000;
/** A file with more changes, or that takes longer to compare, is shown as replaced. */
const COMPARISON = { context: 3, maxEditLength: 20_000, timeout: 1_000 };
const NO_OBJECT = "0".repeat(40);
const ESCAPES: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\" };

type Side = Pick<ChangedFile_Content, "kind" | "bytes"> | undefined;

interface Sides {
  readonly path: Uint8Array;
  readonly before?: Side;
  readonly after?: Side;
}

/**
 * A changed file as `git diff --full-index` tells it, byte for byte, for `git apply`. Of what is no text it tells only that it
 * differs. No name in it has a byte that a terminal acts on; contents are as they are.
 */
export function gitPatch({ path, before, after }: Sides): Buffer {
  // What was a file and is a link, or the other way round, is another thing: the one goes and the other comes.
  const parts: (readonly [Side, Side])[] =
    before !== undefined && after !== undefined && (before.kind === Kind.LINK) !== (after.kind === Kind.LINK)
      ? [
          [before, undefined],
          [undefined, after],
        ]
      : [[before, after]];
  return Buffer.concat(parts.map(([was, is]) => Buffer.from(patchOf(path, was, is), "latin1")));
}

export function isBinary({ before, after }: Pick<Sides, "before" | "after">): boolean {
  return [before, after].some((side) => side !== undefined && side.kind !== Kind.LINK && hasNul(side));
}

/** A name as git writes it: in quotes, with escapes, where it has anything but visible ASCII. */
export function quotedPath(prefix: string, path: Uint8Array): string {
  const name = prefix + Buffer.from(path).toString("latin1");
  if (/^[ !#-[\]-~]*$/.test(name)) return name;
  return `"${name.replace(/[^ !#-[\]-~]/g, (byte) => ESCAPES[byte] ?? `\\${byte.charCodeAt(0).toString(8).padStart(3, "0")}`)}"`;
}

/** Every character of it is a byte. */
function patchOf(path: Uint8Array, before: Side, after: Side): string {
  const [from, to] = [quotedPath("a/", path), quotedPath("b/", path)];
  const [fromMode, toMode] = [before, after].map((side) => (side === undefined ? "" : MODES[side.kind]));
  let head = `diff --git ${from} ${to}\n`;
  if (before === undefined) head += `new file mode ${toMode}\n`;
  else if (after === undefined) head += `deleted file mode ${fromMode}\n`;
  else if (fromMode !== toMode) head += `old mode ${fromMode}\nnew mode ${toMode}\n`;
  const [fromObject, toObject] = [objectOf(before), objectOf(after)];
  if (fromObject === toObject) return head;
  head += `index ${fromObject}..${toObject}${fromMode === toMode ? ` ${fromMode}` : ""}\n`;
  const [fromName, toName] = [before === undefined ? "/dev/null" : from, after === undefined ? "/dev/null" : to];
  if (isBinary({ before, after })) return `${head}Binary files ${fromName} and ${toName} differ\n`;
  const hunks = hunksOf(textOf(before), textOf(after));
  return hunks === "" ? head : `${head}--- ${ended(fromName)}\n+++ ${ended(toName)}\n${hunks}`;
}

/** Where a name has blanks, a tab shows its end. */
function ended(name: string): string {
  return name.includes(" ") && !name.startsWith('"') ? `${name}\t` : name;
}

function hunksOf(before: string, after: string): string {
  const patch = structuredPatch("", "", before, after, "", "", COMPARISON);
  if (patch !== undefined) return patch.hunks.length === 0 ? "" : formatPatch(patch, OMIT_HEADERS).replace(/^@@ .*$/gm, withoutOnes);
  const [removed, added] = [linesOf(before), linesOf(after)];
  const range = ({ length }: readonly string[]): string => (length === 0 ? "0,0" : `1,${length}`);
  const marked = (mark: string, lines: readonly string[]): string =>
    lines.map((line) => (line.endsWith("\n") ? mark + line : `${mark}${line}\n\\ No newline at end of file\n`)).join("");
  return `@@ -${range(removed)} +${range(added)} @@\n${marked("-", removed)}${marked("+", added)}`;
}

/** Git leaves out the number of lines where it is 1. Lines of a file never begin with @ here. */
function withoutOnes(range: string): string {
  return range.replaceAll(/,1(?= )/g, "");
}

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function hasNul({ bytes }: NonNullable<Side>): boolean {
  return bytes.subarray(0, LOOKED_AT_BYTES).includes(0);
}

function textOf(side: Side): string {
  return side === undefined ? "" : Buffer.from(side.bytes).toString("latin1");
}

/** Git's id of the content. */
function objectOf(side: Side): string {
  if (side === undefined) return NO_OBJECT;
  return createHash("sha1").update(`blob ${side.bytes.length}\0`).update(side.bytes).digest("hex");
}
