export const SCORE_PARTS = ["coding", "reasoning", "images", "long_context", "structured_output", "price"] as const;
export type ScorePartName = (typeof SCORE_PARTS)[number];
export type Weights = Readonly<Record<ScorePartName, number>>;

/** What every task weighs: one that asks for nothing in particular goes to a cheap model. */
const USUAL: Weights = { coding: 1, reasoning: 1, images: 0, long_context: 0, structured_output: 0, price: 2 };
/** What a part weighs more, once, where a word of the task asks for it. */
const MORE = 2;
/** Words are looked for in this much of the task. */
const LOOKED_AT = 4_096;
/** A task that says so much is one with a long context, whatever it says. */
const LONG_TASK = 8_192;
const SHOWN_WORD = 48;

/** Whole words, in any case; the plural too. They are few and plain on purpose: a person can foresee what they do. */
const WORDS: Readonly<Partial<Record<ScorePartName, RegExp>>> = {
  coding:
    /\b(?:code|coding|bug|debug|fix|implement|refactor|function|method|class|compile|build|test|type error|stack trace|exception|regex|script|program|commit|patch|merge|endpoint|migration|typescript|javascript|python|rust|java|sql|lint|dependency|dependencies)(?:s|es|ing|ed)?\b/i,
  reasoning:
    /\b(?:why|prove|proof|derive|analy[sz]e|architecture|design|plan|root cause|trade-?off|compare|strategy|algorithm|deadlock|race condition|security|threat|audit|investigate|think)(?:s|es|ing|ed)?\b/i,
  images: /\b(?:image|picture|photo|screenshot|diagram|chart|drawing|logo|png|jpe?g|webp|ocr)s?\b/i,
  long_context:
    /\b(?:whole repository|entire repository|whole codebase|entire codebase|every file|all (?:the )?files|whole book|transcript|long document|large log)s?\b/i,
  structured_output: /\b(?:json|yaml|csv|xml|schema|table|structured|extract|classify|fields)\b/i,
  price: /\b(?:cheap|cheaply|cheapest|inexpensive|low cost|budget)\b/i,
};

export interface WeighedTask {
  readonly weights: Weights;
  /** What of the task decided. */
  readonly words: readonly { readonly word: string; readonly part: ScorePartName }[];
}

/** How much each part of a model's score counts for a task: by its words and its length alone, so that no model has to be asked. */
export function weighTask(task: string): WeighedTask {
  const weights: Record<ScorePartName, number> = { ...USUAL };
  const words: { word: string; part: ScorePartName }[] = [];
  const looked = task.slice(0, LOOKED_AT);
  for (const part of SCORE_PARTS) {
    const word = WORDS[part]?.exec(looked)?.[0];
    if (word !== undefined) words.push({ word: word.slice(0, SHOWN_WORD).toLowerCase(), part });
    if (word !== undefined || (part === "long_context" && task.length >= LONG_TASK)) weights[part] += MORE;
  }
  return { weights, words };
}
