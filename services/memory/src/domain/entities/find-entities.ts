import { isHidden } from "@hlvm/visible-text/hidden-character";
import { redactSecrets } from "../redact-secrets.ts";
import { entityKey } from "./entity-key.ts";
import type { Entity, EntityKind } from "./entity.ts";
import { NO_NAMES, OPENERS, PERSON_BEFORE, PERSON_VERBS, STANDARDS } from "./name-words.ts";

/** Of one item. */
export const MAXIMUM_ENTITIES = 40;
const MAXIMUM_CHARACTERS = 120;
/** Longer ones are data: no name is looked for in them. */
const MAXIMUM_TOKEN = 300;
const MAXIMUM_NAME_WORDS = 4;

const TOKEN = /\S+/gu;
const MARK = /\[secret: [^\]]{1,60}\]/gu;
/** What may stand around a word without being part of it. */
const AROUND: ReadonlySet<string> = new Set("\"'`“”„‘’«»()[]{}<>*~,;:!?.…");
const ENDS_SENTENCE = /[.!?:;…]["'”»)\]]*$|^[-*•]$/u;
/** Between two words of one name nothing stands. */
const ENDS_NAME = /[^\p{L}\p{M}\p{N}'’-]$/u;
const CAPITALIZED = /^\p{Lu}[\p{L}\p{M}\p{N}]*(?:['’-][\p{L}\p{M}\p{N}]+)*$/u;
const ACRONYM = /^\p{Lu}[\p{Lu}\p{N}]{1,9}$/u;
const POSSESSIVE = /['’]s$/u;
const DIGITS = /\d/gu;
const FILE =
  /\p{L}[\p{L}\p{N}_-]*\.(?:[cm]?[jt]sx?|json[lc5]?|mdx?|py|rs|go|sql|toml|ya?ml|sh|css|html?|proto|txt|[ch](?:pp)?|java|kt|rb|php|swift|lock|env|conf|ini|cfg|csv|svg|png|jpe?g|pdf|log|xml)$/iu;

/** What one word is by its form alone; the first that fits. */
const FORMS: readonly (readonly [kind: EntityKind, form: RegExp])[] = [
  ["url", /^(?:https?|wss?|ssh|git):\/\/(?:[^/@]*@)?(?<name>[\p{L}\p{N}.-]+)/u],
  ["package", /^(?:npm|pypi|crate|cargo|gem):(?<name>@?[\w.-]+(?:\/[\w.-]+)?)(?:@[\w.^~-]+)?$/],
  ["package", /^(?<name>@[a-z0-9][\w.-]*\/[a-z0-9][\w.-]*)(?:@[\w.^~-]+)?$/],
  ["package", /^(?<name>[A-Za-z0-9][\w.-]*)@[\^~v]?\d+(?:\.[\dx*]+)*(?:[-+][\w.-]+)?$/],
  ["person", /^(?<name>[\p{L}\p{N}][\p{L}\p{N}._%+-]*)@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u],
  ["person", /^@(?<name>[\p{L}\p{N}][\p{L}\p{N}_-]*)$/u],
  ["issue", /^(?<name>(?:[\w.-]+\/[\w.-]+)?#\d{1,9})$/],
  ["issue", /^(?<name>[A-Z][A-Z0-9]{1,9}-\d{1,7})$/],
  ["path", /^(?<name>(?:~\/|\/)?(?:[\p{L}\p{N}._@+-]+\/)*[\p{L}\p{N}._@+-]*)(?::\d+)*$/u],
  ["symbol", /^(?<name>[\p{L}_$][\p{L}\p{N}_$.:]*)\(\)$/u],
  ["symbol", /^(?<name>_*[\p{L}][\p{L}\p{N}]*(?:_+[\p{L}\p{N}]+)+)$/u],
  ["symbol", /^(?=.*?\p{Ll}\p{N}{0,9}\p{Lu})(?<name>\p{L}[\p{L}\p{N}]*)$/u],
];

/**
 * What a text speaks of, found without a model by how words are written: paths, symbols, packages, issues, hosts, people and names; the
 * first ones, each once. Secrets are none, and the time is in proportion to the text's length.
 */
export function findEntities(text: string): Entity[] {
  const found = new Map<string, Entity>();
  for (const entity of entitiesOf(redactSecrets(text).replace(MARK, "…"))) {
    const id = `${entity.kind} ${entity.key}`;
    if (!found.has(id)) found.set(id, entity);
    if (found.size === MAXIMUM_ENTITIES) break;
  }
  return [...found.values()];
}

/** @returns undefined for what is no name, too long, or says something other than it shows */
export function entityOf(kind: EntityKind, name: string): Entity | undefined {
  const shown = Array.from(name.normalize("NFKC"), (character) => (isHidden(character) ? " " : character))
    .join("")
    .replace(/\s+/gu, " ")
    .trim();
  const key = entityKey(kind === "path" ? shown.replace(/^(?:\.\/)+|(?<=[^/])\/$/gu, "") : shown);
  return shown.length > MAXIMUM_CHARACTERS || key.length > MAXIMUM_CHARACTERS || !/[\p{L}\p{N}]/u.test(key)
    ? undefined
    : { kind, key, name: shown };
}

interface Word {
  readonly raw: string;
  readonly word: string;
  readonly beginsSentence: boolean;
}

function* entitiesOf(text: string): Generator<Entity> {
  /** Capitalized words that stand together, and what stands before them. */
  let name: Word[] = [];
  let before = "";
  let endsSentence = true;
  let end = 0;
  for (const { 0: raw, index } of text.matchAll(TOKEN)) {
    const beginsSentence = endsSentence || text.slice(end, index).includes("\n");
    end = index + raw.length;
    endsSentence = ENDS_SENTENCE.test(raw.slice(-8));
    if (raw.length > MAXIMUM_TOKEN) {
      yield* named(name, before, "");
      name = [];
      continue;
    }
    const word = bareWord(raw).replace(POSSESSIVE, "");
    const formed = wordEntity(raw, word);
    const isName = formed === undefined && CAPITALIZED.test(word) && !NO_NAMES.has(word.toLowerCase().replace("’", "'"));
    if (name.length > 0 && (!isName || beginsSentence || AROUND.has(raw[0]!) || name.length === MAXIMUM_NAME_WORDS)) {
      yield* named(name, before, word);
      name = [];
    }
    if (formed !== undefined) yield formed;
    if (isName) {
      name.push({ raw, word, beginsSentence });
      if (ENDS_NAME.test(raw) || POSSESSIVE.test(raw)) {
        yield* named(name, before, "");
        name = [];
      }
    }
    if (name.length === 0) before = word.toLowerCase();
  }
  yield* named(name, before, "");
}

/** Without what stands around it; what is called keeps its `()`. */
function bareWord(raw: string): string {
  let [start, end] = [0, raw.length];
  while (start < end && AROUND.has(raw[start]!) && !/^(?:\.{1,2}|~)\//.test(raw.slice(start, start + 3))) start += 1;
  while (end > start && AROUND.has(raw[end - 1]!) && !(raw[end - 1] === ")" && raw[end - 2] === "(")) end -= 1;
  return raw.slice(start, end);
}

/** What a word is by its form alone. */
function wordEntity(raw: string, word: string): Entity | undefined {
  for (const [kind, form] of FORMS) {
    const name = form.exec(word)?.groups?.["name"];
    if (name === undefined || (kind === "path" && !isPath(word, raw.startsWith("`")))) continue;
    if (kind === "issue" && STANDARDS.has(name.split("-", 1)[0]!.toLowerCase())) return undefined;
    // What is half digits is an id, and no name.
    if (kind === "symbol" && (name.match(DIGITS) ?? []).length * 3 > name.length) return undefined;
    return entityOf(kind, name);
  }
  return undefined;
}

/** Fractions, dates and "and/or" are none. */
function isPath(word: string, isCode: boolean): boolean {
  const name = word.replace(/(?::\d+)+$/, "");
  if (FILE.test(name.slice(name.lastIndexOf("/") + 1))) return true;
  const slashes = name.split("/").length - 1;
  if (/^(?:~|\.{1,2})\//.test(name)) return /\p{L}/u.test(name);
  return slashes > 0 && /\p{L}{2}/u.test(name) && (slashes > 1 || isCode || /^\/|\/$/.test(name));
}

/** A run of capitalized words. One alone counts unless it is capitalized for beginning a sentence; it is a person where people do or say so. */
function* named(words: readonly Word[], before: string, behind: string): Generator<Entity> {
  const bare = words.length > 0 && OPENERS.has(words[0]!.word.toLowerCase()) ? words.slice(1) : words;
  const [first] = bare;
  if (first === undefined || (bare.length === 1 && OPENERS.has(first.word.toLowerCase()))) return;
  const follows = bare === words ? before : words[0]!.word.toLowerCase();
  const isPerson =
    !ACRONYM.test(first.word) && (PERSON_VERBS.has(behind.toLowerCase()) || (PERSON_BEFORE.has(follows) && !first.beginsSentence));
  if (bare.length === 1 && first.beginsSentence && !isPerson && !ACRONYM.test(first.word)) return;
  if (first.word.length < 2) return;
  const entity = entityOf(isPerson ? "person" : "name", bare.map(({ word }) => word).join(" "));
  if (entity !== undefined) yield entity;
}
