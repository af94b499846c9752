import { expect, it } from "vitest";
import { counted, shortDuration, shortSize } from "./sizes.ts";

it("writes durations, sizes and counts for people", () => {
  expect([0, 12.4, 999, 1_234, 59_900, 185_000].map(shortDuration)).toEqual(["0 ms", "12 ms", "999 ms", "1.2 s", "59.9 s", "3 min 5 s"]);
  expect([0, 1023, 1024, 3_565_158, 83_751_862_272].map(shortSize)).toEqual(["0 B", "1023 B", "1.0 KB", "3.4 MB", "78.0 GB"]);
  expect([counted(0, "turn"), counted(1, "turn"), counted(2, "turn")]).toEqual(["0 turns", "1 turn", "2 turns"]);
});
