/** Sentences of one property, said at two times with two values, by template: `$N` a person, `$S` a thing, `$A` and `$B` the values. */
interface Update {
  readonly old: string;
  readonly fresh: string;
  readonly values: readonly (readonly [string, string])[];
}

const PEOPLE = ["Ada", "Ben Okafor", "Grace"];
const THINGS = ["API", "billing service", "gateway"];
const NAMES = [
  ["Priya", "Tomás"],
  ["Dr. Lee", "Kofi"],
] as const;
const DAYS = [
  ["Monday", "Thursday"],
  ["Tuesday", "Friday"],
] as const;
const CITIES = [
  ["Berlin", "Lisbon"],
  ["New York", "Oslo"],
] as const;
const FIRMS = [
  ["Acme", "Globex"],
  ["Initech", "Stark Industries"],
] as const;
const EDITORS = [
  ["vim", "VS Code"],
  ["Emacs", "Zed"],
] as const;
const PACKAGES = [
  ["npm", "pnpm"],
  ["yarn", "bun"],
] as const;
const DATABASES = [
  ["MySQL", "Postgres"],
  ["SQLite", "MariaDB"],
] as const;
const NUMBERS = [
  ["5", "9"],
  ["30", "45"],
] as const;
const BRANCHES = [
  ["master", "main"],
  ["develop", "trunk"],
] as const;

/** By these the forms were written. */
export const KNOWN_UPDATES: readonly Update[] = [
  { old: "$N's editor is $A", fresh: "$N's editor is $B", values: EDITORS },
  { old: "$N uses $A", fresh: "$N switched to $B", values: EDITORS },
  { old: "$N lives in $A", fresh: "$N moved to $B", values: CITIES },
  { old: "$N works at $A", fresh: "$N joined $B", values: FIRMS },
  { old: "$N prefers tabs", fresh: "$N now prefers spaces", values: [["", ""]] },
  { old: "The deploy branch is $A", fresh: "The deploy branch is now $B", values: BRANCHES },
  { old: "We use $A", fresh: "We switched to $B", values: PACKAGES },
  {
    old: "We use $A for tests",
    fresh: "We switched to $B for tests",
    values: [
      ["Jest", "vitest"],
      ["mocha", "node:test"],
    ],
  },
  { old: "The port of the $S is 80$A", fresh: "The port of the $S is 81$B", values: NUMBERS },
  { old: "The $S listens on port 80$A", fresh: "The $S listens on port 81$B", values: NUMBERS },
  { old: "CI takes $A minutes", fresh: "CI takes about $B minutes now", values: NUMBERS },
  { old: "We deploy on $As", fresh: "We deploy on $Bs", values: DAYS },
  {
    old: "The standup is at $A:15",
    fresh: "The standup is at 1$A:30",
    values: [
      ["9", ""],
      ["8", ""],
    ],
  },
  { old: "$N reports to $A", fresh: "$N reports to $B", values: NAMES },
  {
    old: "We are on Node 2$A",
    fresh: "We upgraded to Node 2$B",
    values: [
      ["2", "4"],
      ["4", "6"],
    ],
  },
  { old: "My favorite color is $A", fresh: "My favourite colour is $B", values: [["green", "blue"]] },
];

/** These were written afterwards and changed nothing. */
export const NEW_UPDATES: readonly Update[] = [
  { old: "$N's manager is $A", fresh: "$N's manager is now $B", values: NAMES },
  { old: "$N's manager is $A", fresh: "$N reports to $B", values: NAMES },
  { old: "$N's phone number is 555-0$A", fresh: "$N's phone number is 555-1$B", values: NUMBERS },
  { old: "$N works for $A", fresh: "$N works at $B now", values: FIRMS },
  { old: "$N is based in $A", fresh: "$N relocated to $B", values: CITIES },
  { old: "$N prefers tea", fresh: "$N prefers coffee these days", values: [["", ""]] },
  { old: "$N prefers dark mode", fresh: "$N prefers light mode", values: [["", ""]] },
  { old: "$N's favorite book is Dune", fresh: "$N's favorite book is Emma", values: [["", ""]] },
  { old: "The default branch is $A", fresh: "The default branch is $B", values: BRANCHES },
  { old: "Our database is $A", fresh: "We migrated from $A to $B", values: DATABASES },
  { old: "We use $A", fresh: "We moved to $B", values: DATABASES },
  { old: "The owner of the $S is $A", fresh: "The $S's owner is $B", values: NAMES },
  { old: "The timeout of the $S is $A seconds", fresh: "The timeout of the $S is $B seconds", values: NUMBERS },
  { old: "The $S costs $A dollars a month", fresh: "The $S costs $B dollars a month", values: NUMBERS },
  { old: "The $S has $A replicas", fresh: "The $S has $B replicas", values: NUMBERS },
  { old: "The retro is on $A", fresh: "The retro is on $B", values: DAYS },
  { old: "The deadline for the audit is $A", fresh: "The deadline for the audit is $B", values: DAYS },
  { old: "The project uses $A for linting", fresh: "The project now uses $B for linting", values: [["ESLint", "oxlint"]] },
  {
    old: "The $S runs Postgres 1$A",
    fresh: "The $S runs Postgres 1$B",
    values: [
      ["5", "6"],
      ["6", "7"],
    ],
  },
  {
    old: "My time zone is $A",
    fresh: "My time zone is $B",
    values: [
      ["CET", "PST"],
      ["UTC", "JST"],
    ],
  },
];

/** Two sentences of which each is true beside the other, and that look alike. */
export const BOTH_TRUE: readonly (readonly [string, string])[] = [
  ["$N likes tea", "$N likes coffee"],
  ["$N's editor is vim", "Linus's editor is nano"],
  ["$N speaks German", "$N speaks French"],
  ["$N has a dog", "$N has a cat"],
  ["$N works at Acme", "$N works on billing"],
  ["$N moved to Berlin", "$N moved to the platform team"],
  ["$N visited Berlin", "$N visited Oslo"],
  ["$N reports to Priya", "$N reports to the board if Priya is away"],
  ["$N prefers tabs", "$N prefers tea"],
  ["$N prefers meetings in the morning", "$N prefers meetings on Zoom"],
  ["$N bought a bike", "$N bought a car"],
  ["$N is a nurse", "$N is a mother"],
  ["$N's sister is Eve", "$N's sister is tall"],
  ["$N's car is red", "$N's car is parked outside"],
  ["$N plans with Sam", "Sam plans with $N"],
  ["$N uses Python", "$N uses Rust"],
  ["$N uses vim for notes", "$N uses Zed for code"],
  ["We use Jest for unit tests", "We use Playwright for browser tests"],
  ["We use TypeScript", "We use Go"],
  ["We use Redis", "We use Postgres"],
  ["We use pnpm", "We use vitest"],
  ["We switched to pnpm", "We switched to vitest"],
  ["We deploy on Fridays", "We never deploy on Fridays"],
  ["We deploy on Mondays", "We meet on Thursdays"],
  ["The $S is slow", "The $S is written in Go"],
  ["The port of the $S is 80", "The port of the admin page is 81"],
  ["The port of the $S is 80", "The port of the $S is not configurable"],
  ["The problem is DNS", "The problem is the cache"],
  ["The deploy branch is main", "The deploy branch is protected"],
  ["The deploy branch is main", "The release branch is stable"],
  ["The $S listens on port 80", "The $S listens on localhost"],
  ["The $S has 3 replicas", "The $S has 8 cores"],
  ["The $S takes 5 minutes to build", "The $S takes 9 minutes to deploy"],
  ["The $S costs 5 dollars a month", "The $S costs 90 dollars a year"],
  ["The first deadline is Monday", "The second deadline is Friday"],
  ["Ticket 12 is done", "Ticket 13 is done"],
  ["Use port 80", "Use port 81"],
  ["Do not use port 80", "Use port 80"],
  ["The key of $N is 5", "The key of Linus is 5"],
  ["Tests run with vitest", "Tests run without vitest"],
  ["The $S is on Node 24", "The $S is on fire"],
  ["Copy files from A to B", "Copy files from B to A"],
  ["Deploy not on Friday in May", "Deploy not in May on Friday"],
  ["$N gave the book to Sam", "Sam gave the book to $N"],
  ["$N is older than Sam", "Sam is older than $N"],
  ["The $S calls the ledger", "The ledger calls the $S"],
  ["Only $N may deploy", "$N may only deploy"],
  ["My favorite book is Dune", "My favorite film is Dune"],
];

/** Two ways to say one thing. */
export const SAID_TWICE: readonly (readonly [string, string])[] = [
  ["The $S listens on port 80", "the $S  listens on port 80?"],
  ["Main is the default branch", "The default branch is main."],
  ["We deploy on Fridays", "On Fridays we deploy"],
  ["We deploy from main on Fridays", "On Fridays, we deploy from main!"],
  ["$N plans with Sam on Mondays", "On Mondays, $N plans with Sam"],
  ["Don't push to main", "Do not push to main"],
  ["We're on Node 24", "We are on node 24"],
  ["“Tests run with vitest”", "Tests run with vitest"],
  ["$N is the owner", "The owner is $N"],
  ["In Berlin we use the metro", "We use the metro in Berlin"],
];

function filled(text: string, person: string, thing: string): string {
  return text.replaceAll("$N", person).replaceAll("$S", thing);
}

/** Each pair with every person and thing that it names. */
export function pairsOf(pairs: readonly (readonly [string, string])[]): [string, string][] {
  return pairs.flatMap(([one, other]) => {
    const people = /\$N/.test(one + other) ? PEOPLE : [""];
    const things = /\$S/.test(one + other) ? THINGS : [""];
    return people.flatMap((person) => things.map((thing): [string, string] => [filled(one, person, thing), filled(other, person, thing)]));
  });
}

export function updatesOf(updates: readonly Update[]): [string, string][] {
  return pairsOf(
    updates.flatMap(({ old, fresh, values }) =>
      values.map(([a, b]): [string, string] => [
        old.replaceAll("$A", a).replaceAll("$B", b),
        fresh.replaceAll("$A", a).replaceAll("$B", b),
      ]),
    ),
  );
}
