import { createHash } from "node:crypto";
import { audienceOf } from "@hlvm/service-memory/src/domain/audience.ts";
import { ENTITIES_VERSION } from "@hlvm/service-memory/src/domain/entities/item-mentions.ts";
import { textKeyOf } from "@hlvm/service-memory/src/domain/fact-keys.ts";
import { termsOf } from "@hlvm/service-memory/src/domain/search/terms.ts";
import type { FactScope } from "@hlvm/service-memory/src/domain/fact.ts";
import type { Database } from "@hlvm/postgres/database";
import { Random } from "../chaos/random.ts";

const WORDS = 60_000;
/** The commonest word is in one of twenty facts, as the commonest that tells anything is in what people write. */
const FLATNESS = 25;
const FACTS_A_SESSION = 20;
const AT_ONCE = 2_000;
const CONSONANTS = "bdfgklmnprstvz";
const VOWELS = "aeiou";

export interface InventedFact {
  readonly id: string;
  readonly text: string;
  readonly words: readonly string[];
  readonly session: string;
  readonly ordinal: number;
}

/** Whose they are, by their number. */
export interface Owner {
  readonly organization: string;
  readonly principal: string;
  readonly project: string;
  readonly scopeOf: (number: number) => FactScope;
}

/** Sentences of words as common and as rare as those of a language, always the same. */
export function inventedFact(number: number): InventedFact {
  const random = new Random(number);
  const words = Array.from({ length: random.integer(7, 16) }, () => word(rank(random)));
  const hash = createHash("sha256").update(`fact ${number}`).digest("hex");
  const id = [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join("-");
  const [first, ...rest] = words;
  const text = `The ${first!} of our ${rest.slice(0, 3).join(" ")} is with ${rest.slice(3).join(" ")}`;
  return { id, text, words, session: `session ${Math.floor(number / FACTS_A_SESSION)}`, ordinal: number % FACTS_A_SESSION };
}

/** Puts facts into their table as the service would; the service cuts them into terms when it starts, and carries them into the index. */
export async function loadInventedFacts(database: Database, count: number, owner: Owner): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => {
      const { id, text, session, ordinal } = inventedFact(from + at);
      const scope = owner.scopeOf(from + at);
      const project = scope === "project" ? owner.project : "";
      const { organization, principal } = owner;
      const audience = audienceOf(organization, { scope, owner: principal, project });
      return {
        id,
        text,
        session,
        ordinal,
        scope,
        project,
        organization,
        owner: principal,
        audience,
        key: textKeyOf(text),
        stems: termsOf(text).join(" "),
      };
    });
    await database.query(
      `INSERT INTO fact (fact_id, organization, owner, project, scope, audience, text, text_key, stems, category, type, origin, subject, predicate,
         slot, tags, pinned, source_session_id, source_ordinal, entities_version)
       SELECT id, organization, owner, project, scope, audience, text, key, stems, '', 'project', 'user-stated', '', '', '', '{}', false, session,
         ordinal, ${ENTITIES_VERSION}
       FROM jsonb_to_recordset($1) AS row (id uuid, organization text, owner text, project text, scope text, audience text, text text, key text,
         stems text, session text, ordinal integer)`,
      [JSON.stringify(rows)],
    );
  }
}

/** What somebody asks who remembers some of a fact's words. */
export function questionAbout({ words }: InventedFact, random: Random): string {
  const asked = Array.from({ length: random.integer(3, 5) }, () => random.pick(words));
  return `What do we know about the ${asked.join(" ")}?`;
}

function rank(random: Random): number {
  return Math.min(WORDS - 1, Math.floor((FLATNESS + 1) * ((WORDS + FLATNESS) / (FLATNESS + 1)) ** random.next() - FLATNESS - 1));
}

/** Two to four syllables that no other number has. */
function word(number: number): string {
  let [rest, written] = [number + 70, ""];
  while (rest > 0) {
    written += CONSONANTS[rest % CONSONANTS.length]! + VOWELS[Math.floor(rest / CONSONANTS.length) % VOWELS.length]!;
    rest = Math.floor(rest / (CONSONANTS.length * VOWELS.length));
  }
  return `${written}k`;
}
