import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Holders } from "./holders.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("Holders", () => {
  it("end the mesh with the last of them", () => {
    const ends: string[] = [];
    const holders = new Holders(true, 1_000, (why) => ends.push(why));
    const first = holders.hold();
    const second = holders.hold();
    first();
    first();
    expect(ends).toEqual([]);
    second();
    expect(ends).toEqual(["nobody holds the mesh any more"]);
  });

  it("end it when nobody comes, and not when somebody came in time", () => {
    const ends: string[] = [];
    const meshes = [new Holders(true, 1_000, (why) => ends.push(why)), new Holders(true, 1_000, () => ends.push("the held one"))];
    meshes[1]?.hold();
    vi.advanceTimersByTime(1_001);
    expect(ends).toEqual(["nobody came to hold the mesh"]);
  });

  it("do not end a mesh in the foreground", () => {
    const holders = new Holders(false, 1_000, () => expect.unreachable());
    vi.advanceTimersByTime(2_000);
    holders.hold()();
  });
});
