import { create } from "@bufbuild/protobuf";
import { findBuiltInProfile } from "@hlvm/agents/built-in-profiles";
import { AgentProfileSchema, type AgentProfile, type ProfileSource } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { nativeTools } from "@hlvm/tools/native-tools";
import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { readToolWord } from "./tool-names.ts";

/** Something in a profile's file that is not as it has to be. */
export interface Mistake {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
  /** Whether the profile cannot be used for it. */
  readonly isFatal: boolean;
}

export interface ParsedProfile {
  readonly profile?: AgentProfile;
  readonly mistakes: readonly Mistake[];
}

interface ProfileFile {
  /** For people. */
  readonly path: string;
  readonly text: string;
  readonly source: ProfileSource;
  /** Whether it is in Claude Code's form: tools may be left out, and mean all. */
  readonly isClaude: boolean;
}

const FRONT = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const NAME = /^[a-z][a-z0-9-]{0,63}$/;
const OURS = new Set(["name", "description", "tools", "model", "temperature", "maxTokens", "instructions", "workers", "disallowedTools"]);
/** Of Claude Code, and without a meaning here: what they would widen stays as the person set it. */
const NOT_USED = new Set(
  ["permissionMode", "maxTurns", "skills", "mcpServers", "hooks", "memory", "background", "effort", "isolation", "color"].concat([
    "initialPrompt",
  ]),
);

/** A profile from its file: front matter in YAML, and instructions below it. */
export function parseProfile(file: ProfileFile): ParsedProfile {
  return new ProfileParser(file).parse();
}

class ProfileParser {
  readonly #file: ProfileFile;
  readonly #mistakes: Mistake[] = [];
  readonly #values = new Map<string, { readonly value: unknown; readonly line: number }>();

  constructor(file: ProfileFile) {
    this.#file = file;
  }

  parse(): ParsedProfile {
    const body = this.#readFrontMatter();
    if (body === undefined) return { mistakes: this.#mistakes };
    const name = this.#name();
    const description = this.#text("description");
    if (description === undefined) this.#mistake(1, "it has no description");
    const { tools, workers, canSpawn } = this.#tools(name);
    const instructions = [this.#text("instructions"), body.trim()].filter((text) => text !== undefined && text !== "").join("\n\n");
    const profile = create(AgentProfileSchema, {
      name,
      description,
      tools: tools === undefined ? undefined : { tools },
      model: this.#model(),
      temperature: this.#number("temperature", 0, 2),
      maximumOutputTokens: this.#number("maxTokens", 1, 1_000_000),
      instructions,
      canSpawn,
      workers,
      source: this.#file.source,
      path: this.#file.path,
    });
    const isUsable = !this.#mistakes.some(({ isFatal }) => isFatal);
    return { ...(isUsable ? { profile } : {}), mistakes: this.#mistakes };
  }

  /** @returns what stands below it */
  #readFrontMatter(): string | undefined {
    const found = FRONT.exec(this.#file.text);
    if (found === null) return this.#mistake(1, "it does not begin with front matter between two lines of ---");
    const lines = new LineCounter();
    const document = parseDocument(found[1]!, { lineCounter: lines });
    const lineOf = (offset: number): number => lines.linePos(offset).line + 1;
    for (const error of document.errors)
      this.#mistake(lineOf(error.pos[0]), `the front matter is no YAML: ${error.message.split("\n", 1)[0]}`);
    if (document.errors.length > 0) return undefined;
    if (!isMap(document.contents)) return this.#mistake(2, "the front matter is not a list of keys and values");
    for (const { key, value } of document.contents.items) {
      const word = isScalar(key) ? String(key.value) : "";
      const line = isScalar(key) && key.range ? lineOf(key.range[0]) : 2;
      if (NOT_USED.has(word)) this.#note(line, `${word} is not used here`);
      else if (!OURS.has(word)) this.#note(line, `there is no key "${word}"`);
      else this.#values.set(word, { value: plain(value), line });
    }
    return this.#file.text.slice(found[0].length);
  }

  #name(): string | undefined {
    const name = this.#text("name");
    const line = this.#lineOf("name");
    if (name === undefined) this.#mistake(line, "it has no name");
    else if (!NAME.test(name)) this.#mistake(line, `"${name}" is no name: it takes small letters, digits and hyphens, at most 64`);
    else if (findBuiltInProfile(name) !== undefined) this.#mistake(line, `${name} is the name of a profile that comes with HLVM`);
    return name;
  }

  #tools(name: string | undefined): { readonly tools?: string[]; readonly workers: string[]; readonly canSpawn: boolean } {
    const given = this.#words("tools");
    const line = this.#lineOf("tools");
    const workers = this.#words("workers") ?? [];
    let canSpawn = this.#values.has("workers");
    if (given === undefined && !this.#file.isClaude) this.#mistake(line, "it has no tools; name those that it may use");
    const tools = new Set<string>();
    for (const word of given ?? []) {
      const read = readToolWord(word);
      if ("tools" in read) for (const tool of read.tools) tools.add(tool);
      else if ("isLeftOut" in read) this.#note(line, `${word} is left out: ${read.isLeftOut}`);
      else if ("workers" in read) {
        canSpawn = true;
        workers.push(...read.workers);
      } else this.#mistake(line, `there is no tool "${word}"`);
    }
    if (given !== undefined && tools.size === 0 && !canSpawn && this.#mistakes.every(({ isFatal }) => !isFatal))
      this.#mistake(line, "none of its tools is there");
    for (const worker of workers) {
      const at = this.#values.has("workers") ? this.#lineOf("workers") : line;
      if (worker === name) this.#mistake(at, "it lists itself as a worker of its own");
      else if (!NAME.test(worker)) this.#mistake(at, `"${worker}" is no profile's name`);
    }
    const left = this.#without(given === undefined ? undefined : [...tools]);
    return { ...(left === undefined ? {} : { tools: left }), workers, canSpawn };
  }

  /** What `disallowedTools` leaves. */
  #without(tools: string[] | undefined): string[] | undefined {
    const denied = this.#words("disallowedTools");
    if (denied === undefined) return tools;
    const taken = new Set<string>();
    for (const word of denied) {
      const read = readToolWord(word);
      if ("tools" in read) for (const tool of read.tools) taken.add(tool);
      else if ("isUnknown" in read) this.#mistake(this.#lineOf("disallowedTools"), `there is no tool "${word}"`);
    }
    const isTaken = (name: string): boolean =>
      [...taken].some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : one === name));
    const names = nativeTools.map(({ name }) => name).filter((name) => tools === undefined || covers(tools, name));
    return names.filter((name) => !isTaken(name));
  }

  #model(): string {
    const model = this.#text("model");
    if (model === undefined || model === "inherit") return "";
    if (model === "auto" || /^[\w.-]+\/\S{1,200}$/.test(model)) return model;
    const says = `"${model}" is no provider/name as \`hlvm model list\` has them`;
    if (this.#file.isClaude) this.#note(this.#lineOf("model"), `${says}; the run's own model is taken`);
    else this.#mistake(this.#lineOf("model"), says);
    return "";
  }

  #text(key: string): string | undefined {
    const found = this.#values.get(key);
    if (found === undefined || found.value === null) return undefined;
    if (typeof found.value === "string" && found.value.trim() !== "") return found.value.trim();
    return this.#mistake(found.line, `${key} is no text`);
  }

  #number(key: string, least: number, most: number): number | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    if (typeof found.value === "number" && found.value >= least && found.value <= most) return found.value;
    return this.#mistake(found.line, `${key} is no number from ${least} to ${most}`);
  }

  /** A list, or words between commas as Claude Code has them; commas in parentheses part nothing. */
  #words(key: string): string[] | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    const { value, line } = found;
    if (typeof value === "string") return value.split(/,(?![^(]*\))/).flatMap((word) => (word.trim() === "" ? [] : [word.trim()]));
    if (Array.isArray(value) && value.every((word) => typeof word === "string")) return value.map((word) => word.trim());
    return this.#mistake(line, `${key} is neither a list nor words between commas`);
  }

  #lineOf(key: string): number {
    return this.#values.get(key)?.line ?? 1;
  }

  #mistake(line: number, message: string): undefined {
    this.#mistakes.push({ path: this.#file.path, line, message, isFatal: true });
    return undefined;
  }

  #note(line: number, message: string): void {
    this.#mistakes.push({ path: this.#file.path, line, message, isFatal: false });
  }
}

function covers(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name));
}

/** Of a node without aliases: those of a hostile file could make gigabytes of it. */
function plain(node: unknown): unknown {
  if (isScalar(node)) return node.value;
  if (typeof node === "object" && node !== null && "items" in node && Array.isArray(node.items)) return node.items.slice(0, 256).map(plain);
  return undefined;
}
