/** What was so, what is so since, and what somebody asks then: `$N` a person, `$S` a thing, `$A` and `$B` the values. */
interface SaidLater {
  readonly old: string;
  readonly fresh: string;
  readonly ask: string;
  /** What a model that writes it with its tool names it by. */
  readonly subject: string;
  readonly predicate: string;
  readonly values: readonly (readonly [string, string])[];
}
/** Filled in. */
export interface LaterPair extends Omit<SaidLater, "values"> {}

const PEOPLE = ["Ada", "Ben Okafor", "Mireille", "Jun"];
const THINGS = ["checkout service", "search gateway", "mobile app", "data warehouse"];
const CITIES = [
  ["Berlin", "Lisbon"],
  ["Oslo", "Porto"],
] as const;
const NAMES = [
  ["Priya", "Tomás"],
  ["Kofi", "Dana"],
] as const;
const NUMBERS = [
  ["5", "9"],
  ["30", "45"],
  ["12", "18"],
] as const;
const DAYS = [
  ["Monday", "Thursday"],
  ["Tuesday", "Friday"],
] as const;
const CLOUDS = [
  ["AWS", "Hetzner"],
  ["Azure", "GCP"],
] as const;
const TOOLS = [
  ["Jenkins", "GitHub Actions"],
  ["CircleCI", "Buildkite"],
] as const;

const of = (
  subject: string,
  predicate: string,
  [old, fresh, ask]: readonly [string, string, string],
  values: SaidLater["values"],
): SaidLater => ({ subject, predicate, old, fresh, ask, values });

/** Written for this bench, as people say such things; the forms by which the service finds slots were there before. */
const LATER: readonly SaidLater[] = [
  of("$N", "residence", ["$N lives in $A", "$N lives in $B now", "Where does $N live?"], CITIES),
  of("$N", "residence", ["$N is based in $A", "$N has moved to $B", "Which city is $N based in?"], CITIES),
  of("$N", "manager", ["$N reports to $A", "$N reports to $B now", "Who does $N report to?"], NAMES),
  of("$N", "manager", ["$N's manager is $A", "Since March $N's manager is $B", "Who is the manager of $N?"], NAMES),
  of("$N", "employer", ["$N works at Acme", "$N joined Globex", "Which company does $N work at?"], [["", ""]]),
  of("$N", "editor", ["$N's editor is vim", "$N switched to Zed", "Which editor does $N use?"], [["", ""]]),
  of("$N", "phone number", ["$N's phone number is 555-01$A", "$N's phone number is 555-02$B", "What is the phone number of $N?"], NUMBERS),
  of("$N", "desk", ["$N's desk is number $A", "$N's desk is number $B", "Which desk is $N's?"], NUMBERS),
  of("$N", "on call day", ["$N is on call on $As", "$N is on call on $Bs", "On which day is $N on call?"], DAYS),
  of("$S", "owner", ["The owner of the $S is $A", "The owner of the $S is $B", "Who is the owner of the $S?"], NAMES),
  of("$S", "owner", ["$A owns the $S", "$B owns the $S", "Who owns the $S?"], NAMES),
  of("$S", "maintainer", ["The $S is maintained by $A", "The $S is maintained by $B now", "Who maintains the $S?"], NAMES),
  of("$S", "port", ["The $S listens on port 80$A", "The $S listens on port 91$B", "Which port does the $S listen on?"], NUMBERS),
  of(
    "$S",
    "timeout",
    ["The timeout of the $S is $A seconds", "The timeout of the $S is $B seconds", "What is the timeout of the $S?"],
    NUMBERS,
  ),
  of("$S", "replicas", ["The $S has $A replicas", "The $S has $B replicas", "How many replicas does the $S have?"], NUMBERS),
  of("$S", "cost", ["The $S costs $A dollars a month", "The $S costs $B dollars a month", "What does the $S cost a month?"], NUMBERS),
  of("$S", "host", ["The $S runs on $A", "We moved the $S from $A to $B", "Where does the $S run?"], CLOUDS),
  of("$S", "host", ["The $S is hosted on $A", "The $S is hosted on $B", "Where is the $S hosted?"], CLOUDS),
  of("$S", "ci", ["The $S is built with $A", "The $S is built with $B now", "What is the $S built with?"], TOOLS),
  of("$S", "version", ["The $S is at version 2.$A", "The $S is at version 3.$B", "Which version is the $S at?"], NUMBERS),
  of("$S", "release day", ["The $S is released on $As", "The $S is released on $Bs", "When is the $S released?"], DAYS),
  of("we", "deploy day", ["We deploy on $As", "We deploy on $Bs", "On which day do we deploy?"], DAYS),
  of("we", "ci", ["Our CI is $A", "Our CI is $B", "What is our CI?"], TOOLS),
  of("we", "database", ["We use MySQL", "We migrated from MySQL to Postgres", "Which database do we use?"], [["", ""]]),
  of("we", "package manager", ["We use yarn", "We switched to pnpm", "Which package manager do we use?"], [["", ""]]),
  of("we", "test runner", ["We use Jest for tests", "We use vitest for tests", "What do we use for tests?"], [["", ""]]),
  of("we", "node version", ["We are on Node 2$A", "We upgraded to Node 3$A", "Which Node are we on?"], [["2", ""]]),
  of("we", "standup time", ["The standup is at 9:$A", "The standup is at 10:$B", "When is the standup?"], [["15", "30"]]),
  of("we", "retro day", ["The retro is on $A", "The retro is on $B", "On which day is the retro?"], DAYS),
  of(
    "we",
    "staging secrets",
    ["Staging secrets are kept in Vault", "Staging secrets are kept in Doppler", "Where are staging secrets kept?"],
    [["", ""]],
  ),
  of(
    "we",
    "review rule",
    ["A change needs $A approvals", "A change needs $B approvals", "How many approvals does a change need?"],
    NUMBERS,
  ),
  of("we", "retention", ["Logs are kept for $A days", "Logs are kept for $B days", "How long are logs kept?"], NUMBERS),
  of("we", "ci duration", ["CI takes $A minutes", "CI takes $B minutes", "How long does CI take?"], NUMBERS),
  of(
    "user",
    "favourite colour",
    ["My favourite colour is green", "My favourite colour is blue", "What is my favourite colour?"],
    [["", ""]],
  ),
  of("user", "time zone", ["My time zone is CET", "My time zone is JST", "Which time zone am I in?"], [["", ""]]),
  of("user", "answer style", ["I prefer long answers", "I prefer short answers", "What answers do I prefer?"], [["", ""]]),
];

/** Two sentences that look alike and are both true: negations, numbers, swapped names, other subjects, other times. */
const BOTH_TRUE: readonly (readonly [string, string])[] = [
  ["$N lives in Berlin", "$N's sister lives in Lisbon"],
  ["$N lives in Berlin", "$N does not live in Lisbon"],
  ["$N lived in Oslo", "$N lives in Berlin"],
  ["$N works at Acme", "$N worked at Globex"],
  ["$N works at Acme", "$N works from Berlin"],
  ["$N reports to Priya", "Priya reports to $N's uncle"],
  ["$N reports bugs to Priya", "$N reports to Kofi"],
  ["$N's manager is Priya", "Priya's manager is $N"],
  ["$N's editor is vim", "$N's favourite film is Vertigo"],
  ["$N's phone number is 555-01", "$N's room number is 12"],
  ["$N speaks German", "$N speaks Portuguese"],
  ["$N is allergic to nuts", "$N is allergic to cats"],
  ["$N owns a boat", "$N owns a bike"],
  ["$N reviews Kofi's changes", "Kofi reviews $N's changes"],
  ["$N taught Dana Rust", "Dana taught $N Rust"],
  ["$N is taller than Dana", "Dana is taller than $N"],
  ["$N is on call on Mondays", "$N is on call on Sundays, too"],
  ["$N may deploy the $S", "$N may not delete the $S"],
  ["Do not restart the $S", "Restart the $S"],
  ["Never scale the $S by hand", "Scale the $S on Mondays"],
  ["The $S listens on port 8001", "The $S sends to port 9001"],
  ["The $S has 3 replicas", "The $S has 3 shards"],
  ["The $S has 3 replicas", "The staging $S has 1 replica"],
  ["The timeout of the $S is 5 seconds", "The timeout of the legacy $S is 9 seconds"],
  ["The timeout of the $S is 5 seconds", "The interval of the $S is 9 seconds"],
  ["The $S costs 5 dollars a month", "The $S costs 60 dollars a year"],
  ["The $S calls the ledger", "The ledger calls the $S"],
  ["The $S needs Redis", "The $S needs Kafka"],
  ["The $S is written in Go", "The $S is written by Dana"],
  ["The $S runs on AWS", "The $S runs on Mondays"],
  ["The $S failed on Monday", "The $S failed on Thursday"],
  ["The $S was at version 2.1", "The $S is at version 3.4"],
  ["Ticket 41 is about the $S", "Ticket 42 is about the $S"],
  ["Step 1 is to drain the $S", "Step 2 is to restart the $S"],
  ["The first owner of the $S is Kofi", "The second owner of the $S is Dana"],
  ["We use TypeScript", "We use Rust"],
  ["We use Postgres for billing", "We use Redis for sessions"],
  ["We use vitest for units", "We use Playwright for browsers"],
  ["We deploy on Mondays", "We do not deploy on Fridays"],
  ["We deploy on Mondays", "We deploy the docs on Fridays"],
  ["We meet on Mondays", "We meet the customers on Thursdays"],
  ["The standup is at 9:15", "The retro is at 10:30"],
  ["The deadline for the audit is Friday", "The deadline for the budget is Monday"],
  ["Logs are kept for 30 days", "Backups are kept for 45 days"],
  ["Logs are kept for 30 days", "Audit logs are kept for 400 days"],
  ["CI takes 5 minutes", "CI takes 5 runners"],
  ["A change needs 2 approvals", "A release needs 3 approvals"],
  ["If the build is red, call Kofi", "If the build is red, call Dana on Sundays"],
  ["My favourite colour is green", "My favourite film is Vertigo"],
  ["I prefer tea", "I prefer short answers"],
  ["I like long walks", "I do not like long meetings"],
  ["Copy from staging to production", "Copy from production to staging"],
  ["Only Kofi may merge", "Kofi may only merge"],
  ["10 people have 2 keys", "2 people have 10 keys"],
];

function filled(text: string, person: string, thing: string): string {
  return text.replaceAll("$N", person).replaceAll("$S", thing);
}

function each<T>(text: string, make: (fill: (text: string) => string) => T): T[] {
  const people = text.includes("$N") ? PEOPLE : [""];
  const things = text.includes("$S") ? THINGS : [""];
  return people.flatMap((person) => things.map((thing) => make((part) => filled(part, person, thing))));
}

export function laterPairs(): LaterPair[] {
  return LATER.flatMap(({ values, ...texts }) =>
    values.flatMap(([a, b]) =>
      each(texts.old, (fill) => {
        const say = (text: string): string => fill(text.replaceAll("$A", a).replaceAll("$B", b));
        return {
          old: say(texts.old),
          fresh: say(texts.fresh),
          ask: say(texts.ask),
          subject: say(texts.subject),
          predicate: texts.predicate,
        };
      }),
    ),
  );
}

export function bothTruePairs(): [string, string][] {
  return BOTH_TRUE.flatMap(([one, other]) => each(one + other, (fill): [string, string] => [fill(one), fill(other)]));
}
