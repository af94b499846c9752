import fastCheck from "fast-check";
import { describe, expect, it } from "vitest";
import { findEntities, MAXIMUM_ENTITIES } from "./find-entities.ts";

const found = (text: string): string[] => findEntities(text).map(({ kind, name }) => `${kind} ${name}`);

describe("what a text speaks of", () => {
  it.each([
    ["See src/a/b.ts:12, ./x and `docs/`.", ["path src/a/b.ts", "path ./x", "path docs/"]],
    ["config.ts calls /etc/hosts, ~/notes and ../up.", ["path config.ts", "path /etc/hosts", "path ~/notes", "path ../up"]],
    ["and/or 24/7, he/she on 2026-11-02 at 3.14 e.g. now", []],
    [
      "writeFact calls `flush()` of TaskQueue and max_retries",
      ["symbol writeFact", "symbol flush", "symbol TaskQueue", "symbol max_retries"],
    ],
    ["@hlvm/postgres, npm:left-pad and react@19.2.0", ["package @hlvm/postgres", "package left-pad", "package react"]],
    [
      "#123, ABC-7 and acme/shop#12, but not UTF-8 or SHA-256",
      ["issue #123", "issue ABC-7", "issue acme/shop#12", "name UTF-8", "name SHA-256"],
    ],
    ["Ask @ada or bob.k@acme.test", ["person ada", "person bob.k"]],
    ["The page was approved by Grace; Ada prefers tea.", ["person Grace", "person Ada"]],
    ["We deploy to Amazon Web Services on Fridays in May", ["name Amazon Web Services"]],
    ["Ada Lovelace's notes, and our API in Lisbon. Deploys wait.", ["name Ada Lovelace", "name API", "name Lisbon"]],
    ["Hey Melanie! Wow Mel, I met I'm Grace", ["name Melanie", "name Mel", "name Grace"]],
    ["https://user:word@docs.acme.test:80/a?b=c", ["url docs.acme.test"]],
    ["", []],
  ])("%s", (text, entities) => {
    expect(found(text)).toEqual(entities);
  });

  it("is one entity however it is written", () => {
    const keys = (text: string) => findEntities(text).map(({ key }) => key);
    expect(keys("We met Zoë, then told ZOË, then Zoe\u0308 said no")).toEqual(["zoe", "zoe"]);
    expect(keys("./docs/ and docs/")).toEqual(["docs"]);
    expect(keys("React@19.1.0 react@18.0.0")).toEqual(["react"]);
  });
});

describe("what is hostile", () => {
  it("never makes a secret an entity", () => {
    const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    const text = `Use ${token} by Ada and [secret: GitHub token] in src/a.ts, password=hunterTwo_99x`;
    const all = JSON.stringify(findEntities(text));
    expect(all).toContain("src/a.ts");
    for (const word of [token, "ghp_", "GitHub", "hunterTwo"]) expect(all).not.toContain(word);
  });

  it("keeps few of many, and none that is long or hides", () => {
    const many = Array.from({ length: 10_000 }, (_, at) => `src/file${at}.ts`).join(" ");
    expect(findEntities(many)).toHaveLength(MAXIMUM_ENTITIES);
    expect(found(`src/${"a".repeat(200)}.ts`)).toEqual([]);
    expect(found("We met \u202eAda\u200b and <b>Bob</b>\u0000 there")).not.toContainEqual(expect.stringMatching(/[\p{Cc}\u200b\u202e<>]/u));
  });

  it("takes time in proportion to a megabyte of anything", () => {
    const pieces = ["a", "A", ")", "/", "a/", "_", "a_", "@", "A-", ".", "`", "#1", "Ab", "\u0301", "aA1", "://", "1", "(", "é", " "];
    const unit = fastCheck.array(fastCheck.constantFrom(...pieces), { minLength: 1, maxLength: 6 }).map((parts) => parts.join(""));
    fastCheck.assert(
      fastCheck.property(unit, fastCheck.boolean(), (part, isSpaced) => {
        const words = isSpaced ? `${part.repeat(Math.floor(290 / part.length))} ` : part;
        const text = words.repeat(Math.floor(1_000_000 / words.length));
        const begun = performance.now();
        expect(findEntities(text).length).toBeLessThanOrEqual(MAXIMUM_ENTITIES);
        expect(performance.now() - begun).toBeLessThan(4_000);
      }),
      { numRuns: 25 },
    );
  }, 120_000);

  it("gives for any text keys that are whole and found again by the name", () => {
    fastCheck.assert(
      fastCheck.property(fastCheck.string({ unit: "binary", maxLength: 400 }), (text) => {
        for (const { key, name } of findEntities(text)) {
          expect(key.length).toBeLessThanOrEqual(120);
          expect(name).toBe(name.toWellFormed());
          expect(key).not.toMatch(/\p{Cc}/u);
        }
      }),
    );
  });
});
