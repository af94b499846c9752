import { readKey } from "../terminal/read-key.ts";
import type { TerminalInput } from "../terminal/terminal-input.ts";
import type { Page } from "./question-pages.ts";

export type Key = "y" | "n" | "a" | "e";

/** What counts as an answer on the last page besides no. */
export interface Choice {
  readonly yes: readonly string[];
  readonly prompt: string;
}

/** Where a question is put: a page, or a line below it. */
export interface QuestionScreen {
  page(rows: Page): void;
  below(text: string): void;
}

export interface Question {
  readonly pages: readonly Page[];
  /** Not all of it is on the pages, so nobody can say yes. */
  readonly isTooLong: boolean;
  readonly choice: Choice;
}

const MORE = ["space", "enter", "down"];
const NO = ["n", "q"];

/** Of a question about an action. */
export const ACTION_CHOICE: Choice = { yes: ["y", "a"], prompt: "Allow it? y / n / a (always for this session)" };

/**
 * Shows a question page by page and waits for the answer. A yes counts only on the last page; a no, on every page.
 * @returns undefined when the signal was aborted first
 */
export async function putQuestion(
  { pages, isTooLong, choice }: Question,
  screen: QuestionScreen,
  input: TerminalInput,
  signal: AbortSignal,
): Promise<Key | undefined> {
  if (signal.aborted) return undefined;
  let index = 0;
  let saidSo = false;
  const prompt = (): void => screen.below(promptOf(index, pages.length, isTooLong, choice));
  const show = (): void => {
    screen.page(pages[index]!);
    saidSo = false;
    prompt();
  };
  let put = prompt;
  screen.page(pages[index]!);
  // What can be answered is said when keys count.
  await input.quiet(signal);
  for (;;) {
    const isLast = index === pages.length - 1;
    const key = await readKey(input, [...MORE, ...NO, ...choice.yes], signal, put);
    put = () => {};
    if (key === undefined) return undefined;
    if (NO.includes(key)) return "n";
    if (MORE.includes(key)) {
      if (isLast) continue;
      index += 1;
      put = show;
    } else if (isLast && !isTooLong) return key as Key;
    else if (!saidSo) {
      saidSo = true;
      put = () => screen.below(isLast ? "It cannot be allowed from here." : "Not yet: the rest has to be seen first.");
    }
  }
}

function promptOf(index: number, count: number, isTooLong: boolean, { prompt }: Choice): string {
  if (index < count - 1) return `Space: go on (${count - index - 1} more) · n: deny · y: at the end`;
  if (isTooLong) return "n: deny (it is too long to be allowed from here)";
  return prompt;
}
