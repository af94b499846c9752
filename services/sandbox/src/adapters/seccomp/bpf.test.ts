import { describe, expect, it } from "vitest";
import { interpretFilter } from "../../testing/interpret-filter.ts";
import { assemble, chooseRange, giveBack, load, type Instruction, type Range } from "./bpf.ts";

const ERRNO = 0x00050000;
/** The word that is loaded is the number of the call. */
const NUMBER = 0;

/** A block that gives its own index, after as many idle instructions as are asked for. */
function block(index: number, idle: number): Instruction[] {
  return [...Array.from({ length: idle }, () => load(NUMBER)), giveBack(ERRNO | index)];
}

function chosen(ranges: readonly Range[], number: number): unknown {
  return interpretFilter(assemble([load(NUMBER), ...chooseRange(ranges)]), 0, number, []).verdict;
}

describe("a choice of ranges", () => {
  it.each([1, 2, 3, 7, 64, 129])("finds the block of every number among %i ranges", (count) => {
    const ranges = Array.from({ length: count }, (_, index) => ({ from: index * index, block: block(index, 0) }));
    for (let number = 0; number <= count * count; number++)
      expect(chosen(ranges, number)).toBe(Math.min(Math.floor(Math.sqrt(number)), count - 1));
  });

  it.each([254, 255, 256, 1_000])("jumps over a block of %i instructions and one", (idle) => {
    const ranges = [0, 10, 20, 30].map((from, index) => ({ from, block: block(index, idle) }));
    expect([0, 9, 10, 19, 20, 29, 30, 0xffffffff].map((number) => chosen(ranges, number))).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  });

  it("compares numbers without a sign", () => {
    const ranges = [0, 0x40000000, 0xfffffff0].map((from, index) => ({ from, block: block(index, 0) }));
    expect([0x3fffffff, 0x40000000, 0x80000000, 0xffffffff].map((number) => chosen(ranges, number))).toEqual([0, 1, 1, 2]);
  });
});
