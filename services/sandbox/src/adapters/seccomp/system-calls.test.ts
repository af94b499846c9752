import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { absentCalls } from "./absent-calls.ts";
import { allowedCalls } from "./allowed-calls.ts";
import { refusedCalls } from "./refused-calls.ts";
import { systemCallNumber, type Architecture, type SystemCall } from "./system-calls.ts";

const lists = [allowedCalls, refusedCalls, absentCalls].map((list) => Object.keys(list) as SystemCall[]);
const names = lists.flat();

/** The kernel's own headers, where this machine has them; aarch64 has the generic numbers. */
const HEADERS: readonly (readonly [Architecture, string])[] = [
  ["x64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"],
  ["arm64", "/usr/include/asm-generic/unistd.h"],
];

/** Of the generic numbers, those that 32-bit machines alone have: calls with a wider time. */
const isFor32Bits = (number: number): boolean => number >= 403 && number <= 423;

function numbersIn(header: string): Map<string, number> {
  const defined = new Map<string, string>();
  for (const [, name, value] of readFileSync(header, "utf8").matchAll(/^#define (__NR\w+) (\w+)$/gm)) defined.set(name!, value!);
  const numbers = new Map<string, number>();
  for (const [name, value] of defined) {
    const number = Number(defined.get(value) ?? value);
    const isCall = name.startsWith("__NR_") && !/^__NR_(syscalls|arch_specific_syscall)$/.test(name);
    // An old call that the machine lacks stands there with the name of the one that took its place.
    if (isCall && Number.isInteger(number)) numbers.set(name.slice("__NR_".length), number);
  }
  return numbers;
}

describe("the numbers of the system calls", () => {
  it("stand in one list each", () => {
    expect(names.length).toBe(new Set(names).size);
  });

  it.each(["x64", "arm64"] as const)("are different on %s", (architecture) => {
    const numbers = names.map((name) => systemCallNumber(name, architecture)).filter((number) => number !== undefined);
    expect(numbers.length).toBe(new Set(numbers).size);
    expect(numbers.length).toBeGreaterThan(300);
  });

  describe.each(HEADERS)("of %s", (architecture, header) => {
    it.skipIf(!existsSync(header))("are those of the kernel's header", () => {
      const numbers = numbersIn(header);
      const known = names.filter((name) => numbers.has(name));
      expect(known.length).toBeGreaterThan(280);
      expect(known.map((name) => [name, systemCallNumber(name, architecture)])).toEqual(known.map((name) => [name, numbers.get(name)]));
    });

    it.skipIf(!existsSync(header))("leave none of the header's calls out, up to the newest that is listed", () => {
      const listed = new Set(names.map((name) => systemCallNumber(name, architecture)));
      const newest = Math.max(...names.map((name) => systemCallNumber(name, architecture) ?? 0));
      const missing = [...numbersIn(header)].filter(([, number]) => number <= newest && !listed.has(number) && !isFor32Bits(number));
      expect(missing).toEqual([]);
    });
  });
});
