import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { ChangedFileSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { diffOf } from "./file-diff.ts";

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const changed = (file: MessageInitShape<typeof ChangedFileSchema>) => diffOf(create(ChangedFileSchema, { path: bytes("a.ts"), ...file }));

it("numbers the lines of before and after", () => {
  const { added, removed, hunks } = changed({ before: { bytes: bytes("a\nb\nc\n") }, after: { bytes: bytes("a\nB\nc\nd\n") } });
  expect([added, removed]).toEqual([2, 1]);
  expect(hunks[0]!.lines).toEqual([
    { sign: " ", text: "a", before: 1, after: 1 },
    { sign: "-", text: "b", before: 2, after: undefined },
    { sign: "+", text: "B", before: undefined, after: 2 },
    { sign: " ", text: "c", before: 3, after: 3 },
    { sign: "+", text: "d", before: undefined, after: 4 },
  ]);
});

it("shows what hides in a line, and leaves tabs and blanks as they are", () => {
  const { hunks } = changed({ after: { bytes: bytes("\tif (x) {\u202e  }\u200b  \n") } });
  expect(hunks[0]!.lines[0]!.text).toBe("\tif (x) {⟦U+202E⟧  }⟦U+200B⟧  ");
});

it.each([
  ["an empty file", { after: { bytes: bytes("") } }, "A new, empty file."],
  ["bytes", { after: { bytes: new Uint8Array([0, 1]) } }, "Not text, or too large to be shown here."],
  ["no UTF-8", { after: { bytes: new Uint8Array([0xff]) } }, "Not text, or too large to be shown here."],
  ["too much", { after: { bytes: new Uint8Array(600_000).fill(97) } }, "Not text, or too large to be shown here."],
])("says what there is of %s", (_, file, note) => {
  expect(changed(file)).toMatchObject({ note, hunks: [] });
});

it("marks the words that differ between a line and the one in its place, and none where all of it does", () => {
  const { hunks } = changed({
    before: { bytes: bytes("const key = a;\nonly here\n") },
    after: { bytes: bytes("const key = b.purpose;\nsomething else\n") },
  });
  const marked = hunks[0]!.lines.map(({ pieces }) => pieces?.filter(({ isChanged }) => isChanged).map(({ text }) => text));
  expect(marked).toEqual([["a"], undefined, ["b.purpose"], undefined]);
});
