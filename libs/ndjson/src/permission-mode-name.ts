import { camelCase } from "./camel-case.ts";
import { permissionModeWords } from "@hlvm/proto/hlvm/policy/v1/policy_words";

type CamelCase<Word extends string> = Word extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Word;

/** A permission mode as flags, settings and programs spell it: `acceptEdits`. */
export type PermissionModeName = CamelCase<(typeof permissionModeWords)[number]>;

/** As the contract has them, in its order. */
export const PERMISSION_MODES = permissionModeWords.map(camelCase) as readonly PermissionModeName[];
