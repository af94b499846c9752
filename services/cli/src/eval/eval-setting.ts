import { PERMISSION_MODES, type PermissionModeName } from "@hlvm/ndjson/permission-mode-name";
import { wrongUsage } from "../options/wrong-usage.ts";

const TOOL_PATTERN = /^[a-z][a-z0-9_]*\*?$/;
const ADVICE = 'Give pairs, for example --setting "model=a/b disallow=shell_exec,git_*"; see `hlvm eval --help`.';

/** With what a task is tried: settings are compared with each other. */
export interface EvalSetting {
  /** As it was given; of a lone model, the model. */
  readonly name: string;
  /** Empty: the one that is set. */
  readonly model: string;
  readonly mode: PermissionModeName;
  readonly disallowedTools: readonly string[];
}

/** @param model empty: the one that is set */
export function modelSetting(model: string): EvalSetting {
  return { name: model, model, mode: "bypassPermissions", disallowedTools: [] };
}

/** Reads `model=… mode=… disallow=…,…`. @throws HlvmError wrong usage */
export function evalSetting(text: string, usualMode: PermissionModeName = "bypassPermissions"): EvalSetting {
  const name = text.trim().split(/\s+/).join(" ");
  const values = new Map<string, string>();
  for (const pair of name.split(" ")) {
    const [, key, value] = /^(model|mode|disallow)=(.+)$/.exec(pair) ?? [];
    if (key === undefined || value === undefined || values.has(key)) throw wrongUsage(`A setting cannot have "${pair}".`, ADVICE);
    values.set(key, value);
  }
  const mode = PERMISSION_MODES.find((known) => known === (values.get("mode") ?? usualMode));
  if (mode === undefined)
    throw wrongUsage(`There is no permission mode "${values.get("mode")}".`, `There are: ${PERMISSION_MODES.join(", ")}.`);
  const disallowedTools = values.get("disallow")?.split(",") ?? [];
  const wrong = disallowedTools.find((pattern) => !TOOL_PATTERN.test(pattern));
  if (wrong !== undefined) throw wrongUsage(`"${wrong}" is not a tool's name, such as write_file or git_*.`, ADVICE);
  return { name, model: values.get("model") ?? "", mode, disallowedTools };
}
