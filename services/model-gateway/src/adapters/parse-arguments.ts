type Arguments = { readonly [name: string]: unknown };

/** The arguments of a call, or undefined where they are not a JSON object. */
export function parseArguments(json: string): Arguments | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Arguments) : undefined;
  } catch {
    return undefined;
  }
}

/** For sending a call back to a provider that takes nothing but an object: what cannot be parsed goes along as text. */
export function argumentsForReplay(json: string): Arguments {
  return parseArguments(json) ?? { unparsed_arguments: json };
}
