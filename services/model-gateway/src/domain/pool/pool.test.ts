import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Generation } from "../generation.ts";
import { FairQueue, type Queued } from "./fair-queue.ts";
import { HeldPrefixes } from "./held-prefixes.ts";
import { placeRequest, type Candidate, type Placing } from "./place-request.ts";
import { prefixBlocks } from "./prefix-blocks.ts";
import { slotShare } from "./slot-share.ts";

const LARGEST = 1_000;
const request = (client: string, cost: number, priority: Queued["priority"] = "interactive"): Queued => ({ client, cost, priority });
const next = (queue: FairQueue<Queued>): Queued => {
  const [first] = queue.inTurn();
  queue.take(first!);
  return first!;
};

describe("the queue", () => {
  it("gives clients that wait the same, to within one request each, whatever their requests cost", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: LARGEST }), { minLength: 20, maxLength: 60 }),
        fc.integer({ min: 2, max: 4 }),
        (costs, clients) => {
          const queue = new FairQueue<Queued>();
          const had = new Map(Array.from({ length: clients }, (_empty, index) => [`client-${index}`, 0]));
          const ask = (client: string, index: number): void => queue.add(request(client, costs[(index + client.length) % costs.length]!));
          for (const client of had.keys()) for (const index of [0, 1]) ask(client, index);
          for (const index of costs.keys()) {
            const taken = next(queue);
            had.set(taken.client, had.get(taken.client)! + taken.cost);
            ask(taken.client, index);
            expect(Math.max(...had.values()) - Math.min(...had.values())).toBeLessThanOrEqual(LARGEST);
          }
        },
      ),
    );
  });

  it("gives no credit for a time without requests", () => {
    const queue = new FairQueue<Queued>();
    for (let time = 0; time < 50; time++) {
      queue.add(request("busy", 100));
      next(queue);
    }
    for (let time = 0; time < 10; time++) for (const client of ["busy", "back"]) queue.add(request(client, 100));
    const served = Array.from({ length: 10 }, () => next(queue).client);
    expect(served.filter((client) => client === "back")).toHaveLength(5);
  });

  it("charges what an answer took beyond what was expected", () => {
    const queue = new FairQueue<Queued>();
    for (const client of ["talker", "other"]) for (let time = 0; time < 6; time++) queue.add(request(client, 10));
    const talkers = next(queue);
    queue.settle(talkers, 40);
    expect(Array.from({ length: 5 }, () => next(queue).client)).toEqual(Array.from({ length: 5 }, () => "other"));
  });

  it("takes interactive requests first, and a batch request after 32 of them at the latest", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 60, maxLength: 120 }), (arrivals) => {
        const queue = new FairQueue<Queued>();
        queue.add(request("b", 10, "batch"));
        const served: string[] = [];
        for (const isInteractive of arrivals) {
          if (isInteractive) queue.add(request("i", 10));
          const hasChoice = queue.count("interactive") > 0;
          const { priority } = next(queue);
          if (priority === "batch") queue.add(request("b", 10, "batch"));
          served.push(priority === "batch" ? (hasChoice ? "B" : "b") : "i");
        }
        // B is a batch request that went before an interactive one: after 32 of those, no sooner and no later.
        expect(served.join("")).toMatch(/^(?:i{0,32}b|i{32}B)*i{0,32}$/);
      }),
    );
  });

  it("lets one that gave way be first of its client again, uncharged", () => {
    const queue = new FairQueue<Queued>();
    const [gaveWay, later] = [request("a", 500, "batch"), request("a", 1, "batch")];
    queue.add(gaveWay);
    queue.take(gaveWay);
    for (const entry of [later, request("b", 1, "batch")]) queue.add(entry);
    queue.giveBack(gaveWay);
    expect(next(queue)).toBe(gaveWay);
  });
});

const blocks = (...letters: string[]): string[] => letters.map((_letter, index) => letters.slice(0, index + 1).join(""));

describe("what a server holds", () => {
  it("is known block by block, and no more prompts of it than slots", () => {
    const held = new HeldPrefixes();
    held.setSlots(2);
    for (const prompt of ["abc", "xyz", "uvw"]) held.add(blocks(...prompt));
    expect(["abcd", "xyz!", "uq"].map((prompt) => held.matched(blocks(...prompt)))).toEqual([0, 3, 1]);
  });

  it("has a prompt that goes on in the place of its beginning", () => {
    const held = new HeldPrefixes();
    held.setSlots(2);
    for (const prompt of ["abc", "xyz", "abcd"]) held.add(blocks(...prompt));
    expect(held.matched(blocks(..."xyz"))).toBe(3);
  });

  it("forgets what the server did not use again, in everything that goes on from there", () => {
    const held = new HeldPrefixes();
    held.setSlots(4);
    for (const prompt of ["abcd", "abef", "xyz"]) held.add(blocks(...prompt));
    held.correct(blocks(..."abcde"), 4, 2);
    expect(["abcd", "abef", "xyz"].map((prompt) => held.matched(blocks(...prompt)))).toEqual([2, 4, 3]);
  });

  it("remembers more of a server that shows that it holds more than its slots", () => {
    const held = new HeldPrefixes();
    held.surprise();
    for (const prompt of ["abc", "xyz"]) held.add(blocks(...prompt));
    expect(held.matched(blocks(..."abc"))).toBe(3);
    held.correct(blocks(..."abc"), 3, 0);
    held.add(blocks(..."uvw"));
    expect(held.matched(blocks(..."xyz"))).toBe(0);
  });

  it("counts what was added and taken away the same way, whatever the order", () => {
    const prompt = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 6 });
    const step = fc.record({ prompt, used: fc.nat(6) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }), (steps, slots) => {
        const held = new HeldPrefixes();
        held.setSlots(slots);
        for (const { prompt: letters, used } of steps) {
          const hashes = blocks(...letters);
          const expected = held.matched(hashes);
          held.correct(hashes, expected, used);
          expect(held.matched(hashes)).toBeLessThanOrEqual(Math.max(used, 0) < expected ? used : expected);
          held.add(hashes);
          expect(held.matched(hashes)).toBe(hashes.length);
        }
      }),
    );
  });
});

describe("a prompt's blocks", () => {
  const generation = (texts: readonly string[], tools: Generation["tools"] = []): Generation => ({
    model: "m",
    messages: texts.map((text) => ({ role: "user", parts: [{ kind: "text", text }] })),
    tools,
    maximumOutputTokens: 1,
    temperature: undefined,
  });

  it("are the same as far as the prompts are, and nowhere after that", () => {
    const text = fc.string({ minLength: 0, maxLength: 900 });
    fc.assert(
      fc.property(text, text, (beginning, rest) => {
        const [one, other] = [prefixBlocks(generation([beginning])), prefixBlocks(generation([beginning, rest]))];
        const whole = Math.floor(one.characters / 256);
        expect(other.hashes.slice(0, whole)).toEqual(one.hashes.slice(0, whole));
        const changed = prefixBlocks(generation([`!${beginning}`, rest]));
        expect(changed.hashes.filter((hash) => other.hashes.includes(hash))).toEqual([]);
      }),
    );
  });

  it("tell tools apart", () => {
    const tool = { name: "t", description: "", inputSchema: {} };
    expect(prefixBlocks(generation(["a"], [tool])).hashes).not.toEqual(prefixBlocks(generation(["a"])).hashes);
  });
});

const candidate = (fields: Partial<Candidate> = {}): Candidate => ({
  slots: 2,
  inFlight: 0,
  batchInFlight: 0,
  quietMilliseconds: 60_000,
  matched: 0,
  recentWork: 0,
  waitMilliseconds: 0,
  millisecondsPerCharacter: 1,
  ...fields,
});
const placing: Placing = { priority: "interactive", waitedMilliseconds: 0, isDue: false };
const batch: Placing = { ...placing, priority: "batch" };

describe("the choice of a server", () => {
  it("never takes one without a free slot, and finds one for an interactive request where waiting costs more", () => {
    const any = fc.record({
      slots: fc.nat(4),
      inFlight: fc.nat(4),
      batchInFlight: fc.nat(2),
      quietMilliseconds: fc.nat(4_000),
      matched: fc.nat(1_000),
      recentWork: fc.nat(1_000),
      waitMilliseconds: fc.integer({ min: 1_001, max: 5_000 }),
      millisecondsPerCharacter: fc.constant(1),
    });
    fc.assert(
      fc.property(
        fc.array(any, { maxLength: 5 }),
        fc.constantFrom("interactive" as const, "batch" as const),
        fc.boolean(),
        (all, priority, isDue) => {
          const placed = placeRequest(all, { ...placing, priority, isDue });
          const isFull = all.every(({ inFlight, slots }) => inFlight >= slots);
          const mayWait = isFull || (priority === "batch" && !isDue);
          expect(placed === undefined ? mayWait : placed.inFlight < placed.slots).toBe(true);
        },
      ),
    );
  });

  it("goes to the prompt's cache, else to the least loaded, else to the one that did least lately", () => {
    const [warm, idle] = [candidate({ inFlight: 1, matched: 500 }), candidate({ recentWork: 5 })];
    expect(placeRequest([warm, idle], placing)).toBe(warm);
    expect(placeRequest([candidate({ inFlight: 1 }), idle], placing)).toBe(idle);
    expect(placeRequest([candidate({ matched: 300 }), warm], placing)).toBe(warm);
    const rested = candidate({ recentWork: 1 });
    expect(placeRequest([idle, rested], placing)).toBe(rested);
  });

  it("leaves the cache where that server has more than its share of requests and of work", () => {
    const crowded = candidate({ slots: 4, inFlight: 3, recentWork: 900, matched: 500 });
    const idle = candidate({ slots: 4, recentWork: 100 });
    expect(placeRequest([crowded, idle], placing)).toBe(idle);
    const byChance = { ...crowded, recentWork: 100 };
    expect(placeRequest([byChance, idle], placing)).toBe(byChance);
  });

  it("waits for the cache while that takes less than reading anew, and no longer", () => {
    const full = candidate({ inFlight: 2, matched: 800, waitMilliseconds: 300 });
    const other = candidate({ inFlight: 1 });
    expect(placeRequest([full, other], placing)).toBeUndefined();
    expect(placeRequest([full, other], { ...placing, waitedMilliseconds: 500 })).toBe(other);
    expect(placeRequest([{ ...full, waitMilliseconds: 900 }, other], placing)).toBe(other);
  });

  it("keeps a slot of each server, and half of the servers, free of batch requests until one is due", () => {
    const one = candidate({ batchInFlight: 1, inFlight: 1 });
    expect(placeRequest([one, candidate()], batch)).toBeUndefined();
    expect(placeRequest([candidate({ quietMilliseconds: 1_000, slots: 3 })], batch)).toBeUndefined();
    expect(placeRequest([candidate({ slots: 1 })], batch)).toBeDefined();
    expect(placeRequest([one], { ...batch, isDue: true })).toBe(one);
  });
});

it("divides every server's slots among gateways without one left over or given twice", () => {
  fc.assert(
    fc.property(fc.nat(64), fc.integer({ min: 1, max: 9 }), fc.string(), (slots, count, server) => {
      const shares = Array.from({ length: count }, (_empty, index) => slotShare(slots, server, { index, count }));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(slots);
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    }),
  );
});
