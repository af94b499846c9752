import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Knob } from "./knob.ts";

type Values<T> = { readonly [Name in keyof T]: T[Name] extends Knob<infer Value> ? Value : never };

/**
 * Reads every knob at once, so that a person sees all that is wrong in one message.
 * @throws HlvmError `invalid_configuration`
 */
export function readConfig<T extends Record<string, Knob<unknown>>>(
  knobs: T,
  environment: Readonly<Record<string, string | undefined>>,
): Values<T> {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, knob] of Object.entries(knobs)) {
    const text = environment[knob.variable];
    try {
      if (text !== undefined && text !== "") values[name] = knob.parse(text);
      else if (knob.fallback !== undefined) values[name] = knob.fallback;
      else throw new Error(`is not set: ${knob.description}`);
    } catch (cause) {
      problems.push(`${knob.variable} ${(cause as Error).message}`);
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
