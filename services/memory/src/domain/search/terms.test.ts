import { describe, expect, it } from "vitest";
import { askedDateTerms, saidAtTerms } from "./field-terms.ts";
import { otherForms } from "./other-forms.ts";
import { termsOf } from "./terms.ts";

/** Whether a question asks for all that it should of a text, the way a search does: by equal terms. */
const shared = (text: string, question: string): string[] => termsOf(question).filter((term) => termsOf(text).includes(term));

describe("termsOf", () => {
  it("cuts words to their stems, and leaves out those that say nothing", () => {
    expect(termsOf("The deployments are retried")).toEqual(["deploy", "retri"]);
    expect(termsOf("Ada's cats don't")).toEqual(["ada", "cat"]);
  });

  it.each([
    ["我喜欢在北京的公园里跑步", "公园"],
    ["データベースの設定を変更した", "設定"],
    ["한국어를 배우고 있어요", "한국어"],
    ["ภาษาไทยสวยงาม", "ภาษาไทย"],
    ["getUserName fails", "get_user_name"],
    ["set max_retry_count", "maxRetryCount"],
    ["see services/memory/main.ts", "main.ts"],
    ["uses kebab-case-names", "kebabCaseNames"],
    ["das Café öffnet", "cafe offnet"],
    ["HTTPServer starts", "http server"],
    ["released 2026-11-23", "2026-11-23"],
  ])("finds in %j what %j asks for", (text, question) => {
    expect(shared(text, question).length).toBeGreaterThan(termsOf(question).length / 2);
  });

  it("finds words by their letters alone, and those with the same accents no later", () => {
    expect(shared("Müller kommt", "muller")).toHaveLength(1);
    expect(shared("Müller kommt", "Müller").length).toBeGreaterThan(shared("Muller kommt", "Müller").length);
    // Marks that are letters in other scripts stay.
    expect(termsOf("がぎ")).not.toEqual(termsOf("かき"));
  });
});

describe("dates", () => {
  it("finds the day, month and year that a question names, and no month in a verb", () => {
    const said = saidAtTerms(new Date("2023-05-08T12:00:00Z"));
    for (const question of ["on 8 May 2023?", "May 8th, 2023", "2023-05-08"])
      expect(new Set(askedDateTerms(question))).toEqual(new Set(said));
    expect(askedDateTerms("may I march on?")).toEqual([]);
    expect(askedDateTerms("in Sept of 2022")).toEqual(["#2022"]);
  });
});

describe("otherForms", () => {
  it("has what texts may say for a question's word, both ways, and nothing for a word that is another one", () => {
    const formsOf = (word: string): string[] => termsOf(word).flatMap(otherForms);
    expect(formsOf("bought")).toEqual(["bui"]);
    expect(formsOf("writing")).toEqual(["wrote", "written"]);
    expect(formsOf("children")).toEqual(["child"]);
    expect(["bit", "lives", "deploy"].flatMap(formsOf)).toEqual([]);
  });
});
