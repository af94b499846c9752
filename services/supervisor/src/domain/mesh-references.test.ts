import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MeshReferences } from "./mesh-references.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("MeshReferences", () => {
  it("end the mesh with the last of them", () => {
    const ends: string[] = [];
    const references = new MeshReferences(true, 1_000, (why) => ends.push(why));
    const first = references.take();
    const second = references.take();
    first();
    first();
    expect(ends).toEqual([]);
    second();
    expect(ends).toEqual(["nobody uses the mesh any more"]);
  });

  it("end it when nobody comes, and not when somebody came in time", () => {
    const ends: string[] = [];
    const meshes = [
      new MeshReferences(true, 1_000, (why) => ends.push(why)),
      new MeshReferences(true, 1_000, () => ends.push("the referenced one")),
    ];
    meshes[1]?.take();
    vi.advanceTimersByTime(1_001);
    expect(ends).toEqual(["nobody came to use the mesh"]);
  });

  it("do not end a mesh in the foreground", () => {
    const references = new MeshReferences(false, 1_000, () => expect.unreachable());
    vi.advanceTimersByTime(2_000);
    references.take()();
  });
});
