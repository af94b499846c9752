import { expect, it } from "vitest";
import { pageText } from "./page-text.ts";

it("takes the front matter off, and each link once", () => {
  const { body, links } = pageText(
    "---\ntitle: Roll back\nsee: '[[hidden]]'\n---\n# Roll back\n[[checks]], [[deploy/blue|blue]], [[ checks ]]\n",
  );
  expect(body).toBe("# Roll back\n[[checks]], [[deploy/blue|blue]], [[ checks ]]\n");
  expect(links).toEqual(["checks", "deploy/blue"]);
});

it("leaves text alone that only looks like front matter or a link", () => {
  const text = "Words\n---\n[[a\nb]] [[]] [one] ]]x[[\n---\n";
  expect(pageText(text)).toEqual({ body: text, links: [] });
  expect(pageText("---\nno end\n").body).toBe("---\nno end\n");
});

it("reads hostile text as large as a page may be in a moment", () => {
  const began = performance.now();
  for (const text of [`---\n${"--\n".repeat(21_000)}`, "[[".repeat(32_768), `[[${"a|".repeat(32_000)}`]) pageText(text);
  expect(performance.now() - began).toBeLessThan(1_000);
});
