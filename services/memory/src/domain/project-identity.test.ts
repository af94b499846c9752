import { expect, it } from "vitest";
import { normalOrigin, projectIdOf } from "./project-identity.ts";

it("takes every way to reach a repository for the same one, and keeps no credentials", () => {
  const ways = [
    "git@example.com:acme/engine.git",
    "example.com:acme/engine",
    "ssh://git@Example.com:2222/acme/engine.git/",
    "https://ada:secret@example.com/acme/engine.git?token=abc#x",
    "https://example.com/acme/engine",
    "git://example.com/acme/engine.git\n",
  ];
  expect(new Set(ways.map(normalOrigin))).toEqual(new Set(["example.com/acme/engine"]));
  expect(normalOrigin("https://example.com/acme/other")).not.toBe(normalOrigin(ways[0]!));
  expect(normalOrigin("/srv/git/engine.git")).toBe("/srv/git/engine");
});

it("needs more than an address, which anybody can write down", () => {
  const identity = { origin: "https://example.com/a", rootCommit: "", madeId: "" };
  expect(projectIdOf("acme", identity)).toBeUndefined();
  const root = projectIdOf("acme", { ...identity, rootCommit: "a".repeat(40) });
  expect(root).toMatch(/^project-[0-9a-f]{64}$/);
  expect(projectIdOf("other", { ...identity, rootCommit: "a".repeat(40) })).not.toBe(root);
  expect(projectIdOf("acme", { ...identity, madeId: "b".repeat(32) })).toMatch(/^project-/);
});
