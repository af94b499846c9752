import { describe, expect, it } from "vitest";
import { BOTH_TRUE, KNOWN_UPDATES, NEW_UPDATES, pairsOf, SAID_TWICE, updatesOf } from "../testing/said-again.ts";
import { slotOf, textKeyOf } from "./fact-keys.ts";
import { findSlot } from "./find-slot.ts";

const slotIn = (text: string): string => {
  const found = findSlot(text);
  return found === undefined ? "" : slotOf(found.subject, found.predicate);
};
const isReplaced = ([old, fresh]: [string, string]): boolean => slotIn(old) !== "" && slotIn(old) === slotIn(fresh);
const isMerged = (pair: [string, string]): boolean => isReplaced(pair) || textKeyOf(pair[0]) === textKeyOf(pair[1]);

describe("findSlot", () => {
  it.each([
    ["forms it was written by", KNOWN_UPDATES],
    ["forms it was not written by", NEW_UPDATES],
  ] as const)("finds what was said before, in %s, for nine of ten", (_, updates) => {
    const pairs = updatesOf(updates);
    const missed = pairs.filter((pair) => !isReplaced(pair));
    expect({ missed, isFew: missed.length / pairs.length <= 0.1 }).toEqual({ missed, isFew: true });
  });

  it("puts together nothing that is true beside the other, for 99 of 100", () => {
    const wrong = pairsOf(BOTH_TRUE).filter(isMerged);
    const right = updatesOf([...KNOWN_UPDATES, ...NEW_UPDATES]).filter(isMerged);
    const share = wrong.length / (wrong.length + right.length);
    expect({ wrong, isFew: share <= 0.01 }).toEqual({ wrong, isFew: true });
  });

  it("finds who has a thing in hand by either side of the verb, and nothing in what many have", () => {
    expect(new Set(["The owner of the API is Ada", "The API is owned by Ben", "Grace owns the API"].map(slotIn)).size).toBe(1);
    expect(slotIn("The API is maintained by Ben")).not.toBe(slotIn("Grace owns the API"));
    expect(["Ada owns a boat", "Ada leads by example", "Ada maintains the docs and the wiki"].map(findSlot)).toEqual(
      Array.from({ length: 3 }),
    );
  });

  it.each([
    "Is the deploy branch main?",
    "The deploy branch was master",
    "The deploy branch might be trunk",
    "The deploy branch is not main",
    "If we deploy, the deploy branch is main",
    "Caroline: My favorite color is green",
    "The deploy branch is main. We deploy on Fridays",
    "We plan to move to Berlin",
    "",
    "a ".repeat(8_000),
    "the ".repeat(4_000),
    "Ada's ".repeat(3_000),
  ])("leaves alone what is no plain statement of a property: %.40j", (text) => {
    expect(findSlot(text)).toBeUndefined();
  });
});

describe("textKeyOf", () => {
  it("takes what is said twice for one", () => {
    expect(pairsOf(SAID_TWICE).filter(([one, other]) => textKeyOf(one) !== textKeyOf(other))).toEqual([]);
  });
});
