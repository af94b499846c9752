import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTime } from "./parse-time.ts";

const NOW = new Date("2026-11-21T12:00:00Z");

describe("parseTime", () => {
  it.each([
    ["90s", "2026-11-21T11:58:30.000Z"],
    ["30m", "2026-11-21T11:30:00.000Z"],
    ["1h", "2026-11-21T11:00:00.000Z"],
    ["7d", "2026-11-14T12:00:00.000Z"],
    ["2w", "2026-11-07T12:00:00.000Z"],
    ["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T10:00:00.5+02:00", "2026-11-21T08:00:00.500Z"],
  ])("reads %s", (text, expected) => {
    expect(parseTime(text, NOW)?.toISOString()).toBe(expected);
  });

  it("takes a time as our own tables print it", () => {
    expect(parseTime("2026-11-21 10:00:30", NOW)).toEqual(parseTime("2026-11-21T10:00:30", NOW));
  });

  it("takes a day alone as its beginning here", () => {
    expect(parseTime("2026-11-21", NOW)).toEqual(new Date(2026, 10, 21));
  });

  it.each(["", "h", "1", "-1h", "1.5h", "1y", "yesterday", "2026-13-01", "2026-11-21T25:00", "999999999w", "1h "])("refuses %j", (text) => {
    expect(parseTime(text, NOW)).toBeUndefined();
  });

  it("never gives a time that protobuf cannot hold", () => {
    expect.hasAssertions();
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^\d{1,10}[smhdw]$/), fc.stringMatching(/^\d{4}-\d{2}-\d{2}$/)), (text) => {
        const year = parseTime(text, NOW)?.getUTCFullYear() ?? 1;
        expect(year).toBeGreaterThanOrEqual(1);
        expect(year).toBeLessThanOrEqual(9999);
      }),
    );
  });
});
