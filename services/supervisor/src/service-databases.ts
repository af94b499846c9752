import { fileURLToPath } from "node:url";
import type { ServiceDatabase } from "./adapters/prepare-databases.ts";

export const WITH_DATABASE = ["orchestrator", "policy", "memory", "sandbox", "model-gateway"] as const;

/** The audit log is safe from policy's service only while another role owns it. */
const POLICY_OWNER = {
  role: "hlvm_policy_owner",
  migrations: fileURLToPath(new URL("../../policy/migrations", import.meta.url)),
};
/** As whom memory reads for a person: row security applies to this role. */
const MEMORY_VIEWER = "hlvm_memory_viewer";

export function databaseName(service: string): string {
  return `hlvm_${service.replaceAll("-", "_")}`;
}

/** @param passwords of the databases, by name */
export function serviceDatabases(passwords: Readonly<Record<string, string>>): ServiceDatabase[] {
  return WITH_DATABASE.map((service) => ({
    name: databaseName(service),
    password: passwords[databaseName(service)]!,
    mayBecome: service === "memory" ? [MEMORY_VIEWER] : [],
    ...(service === "policy" ? { owner: POLICY_OWNER } : {}),
  }));
}
