/** The services of the mesh, as tokens name who signed them and whom they are for. */
export type ServiceName = "edge" | "orchestrator" | "policy" | "sandbox" | "memory" | "model-gateway";

/** Whose key that is: `edge.7Qm2…` is one of the edge's. A name without a random part is from before keys were rotated. */
export function serviceOfKey(kid: string): string {
  return kid.split(".", 1)[0]!;
}
