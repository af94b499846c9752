import type { Redirection } from "./word-reader.ts";

const DEVICES = /^\/+(\.\/+)*dev(\/|$)/;

/** Output that nobody wants to see, or that goes where the other output goes. */
export function isSilencing({ operator, descriptor, target }: Redirection): boolean {
  if (descriptor !== undefined && descriptor !== 1 && descriptor !== 2) return false;
  return operator === ">&" ? /^[12]$/.test(target) : (operator === ">" || operator === ">>") && target === "/dev/null";
}

/** That, or input from a file: to some shells `/dev/tcp/…` is a connection. */
export function isHarmlessRedirection(redirection: Redirection): boolean {
  if (isSilencing(redirection)) return true;
  const { operator, descriptor, target } = redirection;
  return operator === "<" && (descriptor ?? 0) === 0 && (target === "/dev/null" || !DEVICES.test(target));
}
