import { describe, expect, it } from "vitest";
import { FactOrigin, FactScope, FactType } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { addressWith, filterOf, flagsOf, questionOfAddress, viewOfAddress } from "./memory-question.ts";

describe("the question of the memory pages", () => {
  it("is the address: what is no such thing is left out, and the rest goes to the service and to the command", () => {
    const address = "scope=team&origin=model_inferred&type=reference&category=a'b&by=ada&since=7d&until=soon&q=x&project=/src";
    const question = questionOfAddress(new URLSearchParams(address));
    expect(question).toEqual({ scope: "team", origin: "model_inferred", type: "reference", category: "a'b", by: "ada", since: "7d" });
    const filter = filterOf(question, "/src");
    expect(filter).toMatchObject({
      project: "/src",
      scope: FactScope.TEAM,
      origin: FactOrigin.MODEL_INFERRED,
      type: FactType.REFERENCE,
      category: "a'b",
      principal: "user:ada",
      until: undefined,
    });
    expect(Math.abs(Number(filter.since!.seconds) - (Date.now() / 1_000 - 7 * 86_400))).toBeLessThan(60);
    expect(flagsOf(question)).toBe(
      String.raw` --scope team --origin model_inferred --type reference --category 'a'\''b' --by user:ada --since 7d`,
    );
    expect(questionOfAddress(new URLSearchParams("scope=everybody"))).toEqual({});
    expect([viewOfAddress(undefined), viewOfAddress("river"), viewOfAddress("toString")]).toEqual(["live", "river", "live"]);
  });

  it("changes what it is told to and keeps the rest", () => {
    const before = new URLSearchParams("scope=team&project=/src&fact=1");
    expect(addressWith({ scope: "", origin: "user_stated" }, before).toString()).toBe("project=%2Fsrc&fact=1&origin=user_stated");
    expect(addressWith({ project: "" }, before).get("project")).toBe("");
  });
});
