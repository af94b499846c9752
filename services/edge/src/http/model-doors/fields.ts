import { HlvmError } from "@hlvm/errors/hlvm-error";

/** A field of a request that is wrong, or that nobody here understands. */
export class FieldError extends HlvmError {
  /** `messages.0.content` */
  readonly field: string;

  constructor(field: string, message: string, advice = "") {
    super({ code: "invalid_argument", reason: "invalid_request", message: `${field}: ${message}`, advice });
    this.field = field;
  }
}

/**
 * One object of a request's JSON, read field by field. What is null counts as left out, as clients mean it. A field that was not
 * read is found by `end`: nothing that could change the answer is passed over in silence.
 */
export class Fields {
  readonly path: string;
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #read = new Set<string>();

  /** @throws FieldError where it is no object */
  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new FieldError(path || "body", "must be an object");
    this.#value = value as Readonly<Record<string, unknown>>;
    this.path = path;
  }

  /** @throws FieldError */
  static parse(body: string): Fields {
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      throw new FieldError("body", "is not valid JSON");
    }
    return new Fields(value, "");
  }

  /** Undefined where it is left out or null. */
  raw(name: string): unknown {
    this.#read.add(name);
    return Object.hasOwn(this.#value, name) ? (this.#value[name] ?? undefined) : undefined;
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw this.error(name, "is missing");
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === "string") return value?.toWellFormed();
    throw this.error(name, "must be a text");
  }

  /** One of some words. */
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const value = this.optionalText(name);
    const known = words.find((word) => word === value);
    if (value === undefined || known !== undefined) return known;
    throw this.error(name, `must be one of ${words.join(", ")}, not ${JSON.stringify(value.slice(0, 64))}`);
  }

  number(name: string, least: number, most: number): number | undefined {
    const value = this.raw(name);
    if (value === undefined || (typeof value === "number" && value >= least && value <= most)) return value;
    throw this.error(name, `must be a number from ${least} to ${most}`);
  }

  whole(name: string, least: number, most: number): number | undefined {
    const value = this.number(name, least, most);
    if (value === undefined || Number.isInteger(value)) return value;
    throw this.error(name, "must be a whole number");
  }

  flag(name: string): boolean | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw this.error(name, "must be true or false");
  }

  object(name: string): Fields | undefined {
    const value = this.raw(name);
    return value === undefined ? undefined : new Fields(value, this.pathOf(name));
  }

  /** Of objects; empty where it is left out. */
  objects(name: string): Fields[] {
    return this.list(name).map((value, index) => new Fields(value, `${this.pathOf(name)}.${index}`));
  }

  texts(name: string): string[] {
    return this.list(name).map((value, index) => {
      if (typeof value === "string") return value.toWellFormed();
      throw new FieldError(`${this.pathOf(name)}.${index}`, "must be a text");
    });
  }

  list(name: string): readonly unknown[] {
    const value = this.raw(name) ?? [];
    if (Array.isArray(value)) return value as readonly unknown[];
    throw this.error(name, "must be a list");
  }

  /** An object of any form, as JSON text; undefined where it is left out. */
  json(name: string): string | undefined {
    this.object(name);
    const value = this.raw(name);
    return value === undefined ? undefined : JSON.stringify(value);
  }

  /** Refuses what asks for something that there is not, unless it says what holds without it. @throws FieldError */
  refuse(names: readonly string[], harmless: readonly unknown[] = []): void {
    for (const name of names) {
      const value = this.raw(name);
      const isEmpty = typeof value === "object" && Object.keys(value as object).length === 0;
      if (value === undefined || isEmpty || harmless.includes(value)) continue;
      throw this.error(name, "is not supported here", "Leave it out. docs/model-doors.md says what this door takes.");
    }
  }

  /** Refuses whatever was not read. @param ignored may be there, and changes nothing @throws FieldError */
  end(ignored: readonly string[] = []): void {
    for (const name of ignored) this.#read.add(name);
    this.refuse(Object.keys(this.#value).filter((name) => !this.#read.has(name)));
  }

  error(name: string, message: string, advice?: string): FieldError {
    return new FieldError(this.pathOf(name), message, advice);
  }

  pathOf(name: string): string {
    return this.path === "" ? name : `${this.path}.${name}`;
  }
}
