import { classOf } from "./value-classes.ts";

export interface FoundSlot {
  readonly subject: string;
  readonly predicate: string;
}

/** More is a story, and not one property. */
const MAXIMUM_WORDS = 16;
const MAXIMUM_LENGTH = 300;
/** What makes a sentence something else than "this is so now". */
const UNSURE =
  /\b(?:no|not|never|nor|neither|cannot|if|when|unless|might|may|maybe|perhaps|probably|should|could|would|was|were|had|did|used to|will|wants?|plan(?:s|ning)?|hopes?|consider(?:s|ing)?|thinks?|tried|also|too|sometimes|often|usually|mostly|except|only|another|both|either|or|and|but|because|although|while|than)\b|n't\b|[;?\n]|,\s|:\s/i;
/** What is said only of how lately it is so. */
const NOW =
  /\b(?:now|currently|at present|at the moment|these days|nowadays|today|from now on|as of (?:today|now|this week|[A-Z]\w+)|recently|just|officially|since [A-Z]?\w+(?: \d{4})?)\b[,]?/gi;

/** Of these a subject has one at a time. */
const PROPERTY =
  "branch|port|version|owner|lead|manager|boss|maintainer|name|e-?mail(?: address)?|address|phone(?: number)?|number|url|uri|endpoint|host(?:name)?|domain|region|zone|time ?zone|language|framework|database|db|editor|ide|shell|theme|font|colou?r|license|licence|deadline|due date|date|day|time|window|schedule|cadence|frequency|interval|timeout|limit|quota|budget|price|cost|size|threshold|ratio|rate|target|mode|level|role|title|job|location|office|city|country|hometown|birthday|age|height|weight|employer|company|school|major|registry|bucket|queue|topic|channel|directory|folder|path|runner|linter|formatter|bundler|compiler|runtime|provider|backend|cluster|namespace|environment|platform|os|operating system|encoding|indentation|convention|strategy|policy|retention|ttl|sla|slo|reviewer|contact|on-?call|assignee|vendor|currency|locale|format|nickname|username|handle|doctor|dentist|landlord|roommate|partner|pet|dog|cat|car|bike|phone|laptop|hobby|sport|food|drink|book|movie|band|song|game|team|subject|flavou?r|season|holiday|restaurant|tool|library|stack|package manager|ci|cdn|orm|cache|logger|cloud";
const HEAD = new RegExp(`(?:^|\\s)(?:${PROPERTY})$`, "i");
/** A word that says how something is rather than what. */
const QUALITY =
  /^(?:(?:[Vv]ery|[Ss]o|[Qq]uite|really|always|still|already) .*|[a-z]+(?:ed|able|ible|ful|less|ous|ing|ly)|slow|fast|good|bad|big|small|long|short|high|low|old|new|broken|down|up|open|wrong|right|fine|ok|ready|done|stable|sick|happy|full|empty|easy|hard|important|busy|here|there|tall)$/;

type Finder = (groups: Readonly<Record<string, string | undefined>>) => FoundSlot | undefined;

const WHO = String.raw`(?<s>(?:[\w'’.-]+ ){0,3}?[\w'’.-]+)`;
const CHANGE =
  "(?:have |has |'ve )?(?:switched|moved|migrated|changed|upgraded|converted|gone|went)(?: over)?(?: from (?<from>.{1,40}?))? (?:to|over to)(?: using)?";
const DAY = String.raw`(?:on )?(?:mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekdays|weekends)`;
const TIME = String.raw`(?:at )?(?:\d{1,2}(?::\d\d)?\s?(?:am|pm|o'clock|h|utc|cet)?|noon|midnight)`;
const UNIT =
  "(?:ms|milliseconds?|seconds?|minutes?|mins?|hours?|days?|weeks?|months?|years?|%|percent|mb|gb|tb|kb|usd|eur|dollars?|euros?|€|km|miles?|kg|nodes?|replicas?|instances?|workers?|engineers?|developers?|people|members?|employees?|tests?|cores?|cpus?|points?)";

const DOER: Readonly<Record<string, string>> = {
  owned: "owner",
  owns: "owner",
  maintained: "maintainer",
  maintains: "maintainer",
  led: "lead",
  leads: "lead",
};

/** Sentences that state one property, in order; the first that fits decides. */
const FORMS: readonly (readonly [pattern: RegExp, find: Finder])[] = [
  // "The port of the API is 80", "the deadline for the audit is Friday".
  [
    /^(?:the|our) (?<p>(?:[\w-]+ ){0,3}[\w-]+) (?:of|for|at) (?<s>(?:[\w'’.-]+ ){0,4}?[\w'’.-]+) (?:is|are) (?<v>.+)$/i,
    ({ p, s, v }) => property(s!, p!, v!),
  ],
  // "Ada's editor is vim".
  [
    /^(?<s>(?:[\w.-]+ ){0,3}[\w.-]+?)(?:['’]s|s['’]) (?<p>(?:[\w-]+ ){0,3}[\w-]+) (?:is|are|is called|is named) (?<v>.+)$/i,
    ({ s, p, v }) => property(s!, p!, v!),
  ],
  // "My favourite colour is green", "our deploy branch is main".
  [
    /^(?<s>my|our|your|the user['’]s|the team['’]s) (?<p>(?:[\w-]+ ){0,3}[\w-]+) (?:is|are) (?<v>.+)$/i,
    ({ s, p, v }) => property(s!, p!, v!),
  ],
  // "The deploy branch is main", "the standup is at 9:30".
  [
    new RegExp(
      `^(?:the )?${WHO} (?:is|starts|begins|happens|takes place|runs|is held|is scheduled)(?: for)? (?<v>${DAY}(?: ${TIME})?)$`,
      "i",
    ),
    ({ s }) => slot(s!, "day"),
  ],
  [
    new RegExp(`^(?:the )?${WHO} (?:is|starts|begins|happens|takes place|runs|is held|is scheduled)(?: for)? (?<v>${TIME})$`, "i"),
    ({ s, v }) => (/^at |[:apm]/i.test(v!) ? slot(s!, "time") : undefined),
  ],
  [/^the (?<p>(?:[\w-]+ ){0,3}[\w-]+) (?:is|are) (?<v>.+)$/i, ({ p, v }) => property("we", p!, v!)],
  // "We deploy on Fridays".
  [
    new RegExp(
      `^${WHO} (?<verb>deploys?|releases?|ships?|meets?|publishes|publish|bills?|backs? up|rotates?|syncs?) (?:(?<o>[\\w-]+) )?(?<v>on (?:${DAY.slice("(?:on )?".length)}))$`,
      "i",
    ),
    ({ s, verb, o }) => slot(s!, `${stem(verb!)} ${o ?? ""} day`),
  ],
  // Where somebody lives, for whom they work.
  [
    new RegExp(
      `^${WHO} (?:lives? in|moved to|relocated to|(?:is|am|are) (?:based|living) in|resides? in|moved back to|(?:has|have) moved to)(?<v> [A-Z].*)$`,
    ),
    ({ s, v }) =>
      s!.toLowerCase() === "we" || v!.trim().split(" ").length > 5 || classOf(v!.trim()) ? changed(s!, v!) : slot(s!, "residence"),
  ],
  [
    new RegExp(
      `^${WHO} (?:works? (?:at|for)|joined|(?:is|am) employed (?:by|at)|started (?:working )?(?:at|for)|got a job at|took a job at)(?<v> [A-Z].*)$`,
    ),
    ({ s }) => slot(s!, "employer"),
  ],
  [new RegExp(`^${WHO} (?:works? as|got promoted to|was promoted to|became) (?:an? |the )?(?<v>.+)$`, "i"), ({ s }) => slot(s!, "job")],
  [new RegExp(`^${WHO} reports? to (?<v>.+)$`, "i"), ({ s }) => slot(s!, "manager")],
  // Who has a thing in hand, by either side of the verb: "Ada owns the API" is "the owner of the API is Ada".
  [
    new RegExp(`^(?:the )?${WHO} is (?<done>owned|maintained|led) by (?<v>.+)$`, "i"),
    ({ s, done }) => slot(s!, DOER[done!.toLowerCase()]!),
  ],
  [
    /^(?<v>(?:[\w'’.-]+ ){0,2}[\w'’.-]+) (?<done>owns|maintains|leads) the (?<s>(?:[\w'’.-]+ ){0,3}[\w'’.-]+)$/i,
    ({ s, done }) => slot(s!, DOER[done!.toLowerCase()]!),
  ],
  [new RegExp(`^${WHO} (?:studies|study|enrolled) at (?<v>.+)$`, "i"), ({ s }) => slot(s!, "school")],
  [new RegExp(`^${WHO} drives? (?:an? )?(?<v>.+)$`, "i"), ({ s }) => slot(s!, "car")],
  [new RegExp(`^${WHO} (?:is|am) (?<v>\\d{1,3}) years old$`, "i"), ({ s }) => slot(s!, "age")],
  // What one uses, for a purpose or of its kind.
  [
    new RegExp(
      `^${WHO} (?:(?:now )?uses?|prefers?|${CHANGE}|adopted|chose|picked|settled on|standardi[sz]ed on|relies on|rely on|runs?)(?: using)? (?<v>.{1,60}?)(?: (?:over|instead of|rather than|in place of) (?<over>.{1,40}?))? for (?:(?:all|our|the|its|his|her|their) )?(?<use>(?:[\\w-]+ ){0,3}[\\w-]+)$`,
      "i",
    ),
    ({ s, use }) => slot(s!, classWord(use!)),
  ],
  [
    new RegExp(`^${WHO} (?:${CHANGE}|adopted|standardi[sz]ed on|settled on) (?<v>.{1,60})$`, "i"),
    ({ s, v, from }) => changed(s!, v!, from),
  ],
  [new RegExp(`^${WHO} prefers? (?<v>.{1,60}?)(?: (?:over|to|instead of) .{1,60})?$`, "i"), ({ s, v }) => preferred(s!, v!)],
  [
    new RegExp(`^${WHO} (?:uses?|runs? on|(?:is|are|am) on|requires?|targets?|(?:is|are) written in|runs?) (?<v>.{1,40})$`, "i"),
    ({ s, v }) => used(s!, v!),
  ],
  // A measure in one frame: only its number is another one.
  [
    new RegExp(
      `^(?:the )?${WHO} (?<verb>takes?|lasts?|costs?|has|have|needs?|keeps?|expires? (?:in|after)|retries|weighs?) (?:about |around |up to )?(?<n>[€$]?\\d[\\d.,]*) ?(?<u>${UNIT})?(?<o>(?: [\\w-]+){0,3})$`,
      "i",
    ),
    ({ s, verb, u, o }) => (u === undefined && !/^costs?$/i.test(verb!) ? undefined : slot(s!, `${stem(verb!)} ${measured(u)}${o ?? ""}`)),
  ],
  [new RegExp(`^(?:the )?${WHO} (?:listens|runs|serves|is served|is exposed) on port (?<v>\\d{1,5})$`, "i"), ({ s }) => slot(s!, "port")],
];

/**
 * Subject and predicate of a sentence that states one property of which there is one at a time, found by its form alone: the same property
 * said otherwise, or with another value, has the same. Undefined where that is not certain: what replaces another by mistake loses it.
 */
export function findSlot(text: string): FoundSlot | undefined {
  if (text.length > 2 * MAXIMUM_LENGTH) return undefined;
  const whole = text
    .normalize("NFKC")
    .replace(/\s+/gu, " ")
    .trim()
    .replace(/[.!]+$/u, "");
  if (whole.length > MAXIMUM_LENGTH || UNSURE.test(whole) || /(?<!\b(?:Dr|Mr|Mrs|Ms|St|No|vs))[.!] /.test(whole)) return undefined;
  const sentence = whole
    .replace(NOW, " ")
    .replace(/\b(we|they)'(?:re|ve)\b/gi, (_, who: string) => `${who} are`)
    .replace(/\b(We|we|I|they|They) are (switched|moved|migrated|changed|upgraded)\b/g, "$1 $2")
    .replace(/\bI'm\b/g, "I am")
    .replace(/\s+/g, " ")
    .trim();
  if (sentence.split(" ").length > MAXIMUM_WORDS) return undefined;
  // "Main is the deploy branch" is "the deploy branch is main".
  const turned = sentence.replace(
    /^(?!(?:the|our|my|this|that|it|he|she|they|we|there) )(\S+(?: \S+)?) (is|are) ((?:the|our|my) .+)$/i,
    "$3 $2 $1",
  );
  for (const [pattern, find] of FORMS) {
    const found = pattern.exec(turned);
    const slotFound = found === null ? undefined : find(found.groups ?? {});
    if (slotFound !== undefined) return slotFound;
  }
  return undefined;
}

function property(subject: string, predicate: string, value: string): FoundSlot | undefined {
  const isOne = HEAD.test(predicate) || /^(?:favou?rite|preferred|default|primary|main|current) /i.test(predicate);
  const says = value.replace(/^(?:still|set to|called|named) /i, "").trim();
  if (
    !isOne ||
    QUALITY.test(says) ||
    says.split(" ").length > 8 ||
    /^(?:in|on|at|from|about|for|under|like|where|what|how|that|to|a|an) /i.test(says)
  ) {
    if (!isOne || !/^(?:in|on|at) \S+(?: \S+)?$/i.test(says)) return undefined;
    if (!/(?:office|location|day|date|time|deadline|window|city|channel|host|region)$/i.test(predicate)) return undefined;
  }
  return slot(subject, classWord(predicate));
}

/** A change by its own word: everything of its kind is meant. */
function changed(subject: string, value: string, from?: string): FoundSlot | undefined {
  const version = versionOf(value);
  if (version !== undefined) return slot(subject, version);
  const kind = classOf(value) ?? (from === undefined ? undefined : classOf(from));
  return kind === undefined ? undefined : slot(subject, kind.name);
}

function preferred(subject: string, value: string): FoundSlot | undefined {
  const kind = classOf(value);
  if (kind !== undefined) return slot(subject, kind.name);
  const style = /^[\w-]+ (?<what>answers|responses|replies|explanations|summaries|messages|commits|comments|mode|theme|meetings)$/i.exec(
    value,
  );
  return style === null ? undefined : slot(subject, `preferred ${style.groups!.what!.toLowerCase()}`);
}

/** What is used beside others of its kind, such as languages, takes nothing's place. */
function used(subject: string, value: string): FoundSlot | undefined {
  const version = versionOf(value);
  if (version !== undefined) return slot(subject, version);
  const kind = classOf(value);
  return kind?.isSingle === true ? slot(subject, kind.name) : undefined;
}

/** Of `Node 24`: `Node version`. */
function versionOf(value: string): string | undefined {
  const versioned = /^(?<what>[A-Za-z][\w.+#-]*(?: [A-Z][\w.+#-]*)?) v?\d[\w.]*$/.exec(value);
  return versioned === null ? undefined : `${versioned.groups!.what!} version`;
}

function slot(subject: string, predicate: string): FoundSlot {
  return { subject: subjectWord(subject), predicate: predicate.toLowerCase().replace(/\s+/g, " ").trim() };
}

function subjectWord(subject: string): string {
  const word = subject
    .toLowerCase()
    .replace(/^(?:the|this|that|our|a|an) /, "")
    .replace(/['’]s$/, "")
    .trim();
  if (/^(?:we|our|us|team|project|repo|repository|codebase|company)$/.test(word)) return "we";
  return /^(?:i|my|me|user|you|your)$/.test(word) ? "user" : word;
}

/** One word for a property that has several. */
function classWord(predicate: string): string {
  const word = predicate
    .toLowerCase()
    .replace(
      /^(?:favou?rite|preferred|current|main|primary|new) (?=(?:editor|ide|shell|language|database|db|browser|package manager|test runner|operating system|os|theme)$)/,
      "",
    );
  const SAME: Readonly<Record<string, string>> = {
    db: "database",
    ide: "editor",
    os: "operating system",
    boss: "manager",
    city: "residence",
    hometown: "hometown",
    company: "employer",
    colour: "color",
    licence: "license",
    testing: "tests",
    "unit tests": "unit tests",
    "e-mail": "email",
  };
  return (SAME[word] ?? word).replace("colour", "color").replace("favourite", "favorite").replace("flavour", "flavor");
}

function measured(unit: string | undefined): string {
  if (unit === undefined) return "";
  if (/^(?:ms|milli|sec|min|hour|day|week|month|year)/i.test(unit)) return "duration";
  return unit.toLowerCase().replace(/s$/, "");
}

function stem(verb: string): string {
  return verb.toLowerCase().replace(/(?:es|s)(?= |$)/, "");
}
