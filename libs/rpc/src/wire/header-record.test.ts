import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { headerRecord } from "./header-record.ts";

const names = fc.oneof(fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,5}$/), fc.constantFrom("constructor", "__proto__", "toString"));
const values = fc.stringMatching(/^[!-~]([ -~]{0,10}[!-~])?$/);
const pairs = fc.array(fc.tuple(names, values), { maxLength: 10 });
const sorted = (entries: Iterable<[string, string]>): [string, string][] => [...entries].sort(([one], [other]) => (one < other ? -1 : 1));

describe("headers as a record", () => {
  it("say what the headers say from which they are made, in each form that those have", () => {
    fc.assert(
      fc.property(pairs, (given) => {
        const headers = new Headers(given);
        const expected = sorted(headers);
        for (const input of [given, headers, Object.fromEntries(headers)] as const)
          expect(sorted(Object.entries(headerRecord(input as [string, string][])))).toEqual(expected);
      }),
    );
  });

  it("are none where there are none", () => {
    expect(headerRecord(undefined)).toEqual({});
  });
});
