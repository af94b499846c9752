/** One setting that a service reads from the environment. */
export interface Setting<T> {
  readonly variable: string;
  /** What it does, with its unit. */
  readonly description: string;
  /** Undefined: the variable has to be set. */
  readonly fallback: T | undefined;
  /** Throws a plain Error whose message completes "VARIABLE …". */
  readonly parse: (text: string) => T;
}

type Described<T> = { variable: string; description: string; fallback?: T };

function setting<T>(described: Described<T>, parse: (text: string) => T): Setting<T> {
  return { variable: described.variable, description: described.description, fallback: described.fallback, parse };
}

export const text = (described: Described<string>): Setting<string> => setting(described, (value) => value);

/** Values separated by commas; blanks around them do not count. */
export const list = (described: Described<readonly string[]>): Setting<readonly string[]> =>
  setting(described, (value) =>
    value
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== ""),
  );

export const integer = (described: Described<number> & { minimum: number; maximum: number }): Setting<number> =>
  setting(described, (value) => {
    const number = Number(value);
    if (!/^-?\d+$/.test(value) || number < described.minimum || number > described.maximum)
      throw new Error(`must be a whole number from ${described.minimum} to ${described.maximum}, not "${value}"`);
    return number;
  });

export const choice = <T extends string>(described: Described<T> & { choices: readonly T[] }): Setting<T> =>
  setting(described, (value) => {
    const found = described.choices.find((item) => item === value);
    if (found === undefined) throw new Error(`must be one of ${described.choices.join(", ")}, not "${value}"`);
    return found;
  });
