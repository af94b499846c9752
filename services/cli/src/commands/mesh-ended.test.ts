import { expect, it } from "vitest";
import { meshEnded } from "./mesh-ended.ts";

it("a run whose mesh ended is gone on with by its session, and a stateless one asked again", () => {
  const cause = new Error("gone");
  expect(meshEnded({ sessionId: "s1", stateless: false }, cause)).toMatchObject({
    reason: "mesh_ended",
    advice: expect.stringContaining("`hlvm ask --resume s1 …`"),
    cause,
  });
  const { advice } = meshEnded({ sessionId: "s1", stateless: true }, cause);
  expect(advice).not.toMatch(/resume|session list/);
  expect(advice).toContain("ask again");
});
