const wordsOf = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Capitalized wherever they stand, and no names. */
export const NO_NAMES = wordsOf(
  "january february march april may june july august september october november december " +
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays i i'm i've i'd i'll ok",
);

/** What sentences begin with; before a name they are no part of it. */
export const OPENERS = wordsOf(
  "a about after all also always an and any are as at be because before both but by can could did do does each every for from had has " +
    "have he her here his how however i i'd i'll i'm i've if in is it it's its just let's look maybe more most my never no not now of ok " +
    "okay on once one only or our please she should since so some sorry still sure thanks that the their them then there these they this " +
    "those to today tomorrow under until us use we we're what when where which while who why will with without would yes yesterday yet " +
    "you you're your hey hi hello bye oh wow yeah yep nope congrats btw fyi great good nice cool lol haha hmm well hope wish last next dear todo note fixme warning error add remove read run write see set",
);

/** In front of a name: what is done with people. */
export const PERSON_BEFORE = wordsOf("by asked ask told tell dr mr mrs ms met thank cc dear colleague called");

/** Behind a name: what people do. */
export const PERSON_VERBS = wordsOf(
  "said says asked asks wants wanted prefers preferred likes liked loves hates thinks thought believes decided decides told wrote writes " +
    "works worked owns reviews reviewed maintains approved joined left lives moved",
);

/** They look like the ids of issues. */
export const STANDARDS = wordsOf("utf sha iso rfc md aes rsa tls ssl http gpt cve iec ieee ecma ean x base llama qwen claude");
