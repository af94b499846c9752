import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Setting } from "./setting.ts";

type Values<T> = { readonly [Name in keyof T]: T[Name] extends Setting<infer Value> ? Value : never };

/**
 * Reads every setting at once, so that a person sees all that is wrong in one message.
 * @throws HlvmError `invalid_configuration`
 */
export function readConfig<T extends Record<string, Setting<unknown>>>(
  settings: T,
  environment: Readonly<Record<string, string | undefined>>,
): Values<T> {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings)) {
    const text = environment[setting.variable];
    try {
      if (text !== undefined && text !== "") values[name] = setting.parse(text);
      else if (setting.fallback !== undefined) values[name] = setting.fallback;
      else throw new Error(`is not set: ${setting.description}`);
    } catch (cause) {
      problems.push(`${setting.variable} ${(cause as Error).message}`);
    }
  }
  if (problems.length > 0)
    throw new HlvmError({
      code: "invalid_argument",
      reason: "invalid_configuration",
      message: problems.join("; "),
      advice: "Set the environment variables named here and start again.",
    });
  return values as Values<T>;
}
