import { randomInt } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { CodeTyper, DeviceAttempt, DeviceStore, WaitingDevice } from "./device-store.ts";
import type { LetInCommand, TokenPair } from "./login-store.ts";
import { eventWriter } from "./log-in.ts";

/** Without vowels, so that no code is a word, and without what is mistaken for something else (RFC 8628, 6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const CODE_LETTERS = 8;
const MOST_WRONG_CODES = 5;
const MOST_WAITING = { inAll: 1_000, ofAddress: 20 };

/** @throws HlvmError `too_many_devices` */
export async function beginDevice(
  store: DeviceStore,
  attempt: Omit<DeviceAttempt, "userCode">,
): Promise<{ readonly userCode: string; readonly expiresAt: Date }> {
  const userCode = Array.from({ length: CODE_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join("");
  const expiresAt = await store.begin({ ...attempt, userCode }, MOST_WAITING);
  if (expiresAt !== undefined) return { userCode, expiresAt };
  throw new HlvmError({
    code: "resource_exhausted",
    reason: "too_many_devices",
    message: "Too many commands wait for their code to be typed.",
    advice: "Try again in ten minutes.",
  });
}

/** @throws HlvmError `code_unknown`, `too_many_codes` */
export async function findDevice(store: DeviceStore, typer: CodeTyper, typed: string): Promise<WaitingDevice> {
  const found = await store.find(typer, lettersOf(typed), MOST_WRONG_CODES);
  if (found === "too_many")
    throw new HlvmError({
      code: "resource_exhausted",
      reason: "too_many_codes",
      message: `You typed ${MOST_WRONG_CODES} codes that nobody waits with.`,
      advice: "Try again in ten minutes, with the code that your own command prints.",
    });
  if (found !== undefined) return found;
  throw new HlvmError({
    code: "not_found",
    reason: "code_unknown",
    message: "No command waits with this code; it may have been answered, or be older than ten minutes.",
    advice: "Compare it with what your command prints, or begin again: `hlvm login URL --device`.",
  });
}

/** @throws HlvmError `code_unknown`, `too_many_codes` */
export async function answerDevice(store: DeviceStore, typer: CodeTyper, answer: { typed: string; allow: boolean }, traceId: string) {
  await findDevice(store, typer, answer.typed);
  if (await store.answer(typer, lettersOf(answer.typed), answer.allow, eventWriter(traceId))) return;
  throw new HlvmError({
    code: "failed_precondition",
    reason: "code_answered",
    message: "Somebody has answered this code meanwhile.",
    advice: "If it was not you, begin again: `hlvm login URL --device`.",
  });
}

/** @returns undefined while nobody has answered @throws HlvmError `device_denied`, `device_over`, `poll_slower` */
export async function redeemDevice(store: DeviceStore, deviceSha256: string, next: TokenPair, traceId: string) {
  const answer = await store.redeem(deviceSha256, next, eventWriter(traceId));
  if (answer === "waiting") return undefined;
  if (answer === "early")
    throw new HlvmError({ code: "resource_exhausted", reason: "poll_slower", message: "Ask every five seconds.", advice: "Wait longer." });
  if (answer === "denied")
    throw new HlvmError({ code: "permission_denied", reason: "device_denied", message: "The login was refused in the browser." });
  if (answer !== undefined) return answer satisfies LetInCommand;
  throw new HlvmError({
    code: "unauthenticated",
    reason: "device_over",
    message: "Nobody typed the code within ten minutes, or it was used already.",
    advice: "Run `hlvm login URL --device` again.",
  });
}

function lettersOf(typed: string): string {
  return typed.toUpperCase().replaceAll(/[\s-]/g, "");
}
