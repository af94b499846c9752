import type { AttackMesh } from "./attack-mesh.ts";

export const attackGroups = ["seen", "A", "B", "E", "F", "G", "H", "agent", "doors"] as const;
export type AttackGroup = (typeof attackGroups)[number];

/** What came of an attack. */
export interface Finding {
  readonly result: "held" | "BROKEN" | "not run";
  /** What was seen, or why it was not run. */
  readonly observed: string;
}

/** One attack on the running mesh, told by what can be seen from outside. */
export interface AttackCase {
  readonly group: AttackGroup;
  readonly name: string;
  /** Where it was published. */
  readonly origin?: string;
  /** Takes more than a second or two, or stops parts of the mesh: `npm run attacks` runs it, `npm test` does not. */
  readonly onlyByCommand?: boolean;
  readonly run: (mesh: AttackMesh) => Promise<Finding>;
}

export const held = (observed: string): Finding => ({ result: "held", observed });
export const broken = (observed: string): Finding => ({ result: "BROKEN", observed });
export const notRun = (why: string): Finding => ({ result: "not run", observed: why });

/** Broken where there is at least one problem. */
export function findingOf(problems: readonly string[], otherwise: string): Finding {
  return problems.length === 0 ? held(otherwise) : broken(problems.join("; "));
}
