import { absentCalls } from "./absent-calls.ts";
import { allowedCalls } from "./allowed-calls.ts";
import { refusedCalls } from "./refused-calls.ts";

export type Architecture = "x64" | "arm64";

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64: what the kernel says of the call's own calling convention. */
export const auditArchitectures: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** [x86_64, aarch64], from the kernel's system call tables; undefined where an architecture never had the call. */
const numbers = { ...allowedCalls, ...refusedCalls, ...absentCalls } satisfies Readonly<
  Record<string, readonly [x64: number | undefined, arm64: number | undefined]>
>;

export type SystemCall = keyof typeof numbers;

export function systemCallNumber(name: SystemCall, architecture: Architecture): number | undefined {
  return numbers[name][architecture === "x64" ? 0 : 1];
}
