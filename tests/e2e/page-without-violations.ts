import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** Expects nothing of WCAG 2.2 A and AA to be wrong with a page: in a copy of it, since axe cannot run under the content policy. */
export async function pageWithoutViolations(page: Page): Promise<void> {
  const context = await page
    .context()
    .browser()!
    .newContext({ bypassCSP: true, storageState: await page.context().storageState() });
  const copy = await context.newPage();
  await copy.goto(page.url());
  await copy.locator("main :is(table, form, article)").first().waitFor();
  await copy.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  const options = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] };
  const { violations } = await copy.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    `axe.run(${JSON.stringify(options)})`,
  );
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  await context.close();
}
