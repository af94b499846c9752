import { describe, expect, it } from "vitest";
import { answerText, citesFact, restatesFact } from "./holds-fact.ts";

const question = "How do we deploy the shop?";

describe("whether an answer holds a fact", () => {
  it.each([
    ["the same words", "The shop is deployed with Argo from branch release-7.", "Deploy it with Argo from the branch release-7."],
    ["two sentences", "Deploys need approval by Kim and a green pipeline.", "Wait for a green pipeline. Then Kim gives her approval."],
    ["a denial", "The staging database is never migrated by hand.", "Never migrate the staging database by hand!"],
    ["a word that is nearly all that is new", "The shop deploys on Fridays.", "On Fridays, at any time."],
  ])("says so of %s", (_, fact, answer) => {
    expect(restatesFact(answerText(answer, question), fact)).toBe(true);
  });

  it.each([
    ["words of the question alone", "We deploy the shop.", "We deploy the shop with care."],
    ["another number", "The limit of a deploy is 30 minutes of pipeline.", "The limit of the pipeline is 45 minutes."],
    ["the contrary", "The staging database is never migrated by hand.", "Migrate the staging database by hand."],
    ["one word in common", "Kim keeps the pipeline of the billing service green.", "Look at the pipeline."],
    ["words that are far apart", "Argo syncs from branch release.", "Argo is a tool.\nIt is nice.\nThere is a branch.\nOne can release."],
    ["nothing", "The shop is deployed with Argo.", ""],
  ])("does not say so of %s", (_, fact, answer) => {
    expect(restatesFact(answerText(answer, question), fact)).toBe(false);
  });

  it("finds a fact that is cited by its id", () => {
    const id = "3f2a9c1e-0000-4000-8000-000000000000";
    expect(citesFact(answerText(`As fact ${id} says.`, question), id)).toBe(true);
    expect(citesFact(answerText("See 3F2A9C1E.", question), id)).toBe(true);
    expect(citesFact(answerText("As fact 3f2a says.", question), id)).toBe(false);
  });
});
