import type { LetInCommand, TokenPair, WriteEvent } from "./login-store.ts";

export interface DeviceAttempt {
  readonly organization: string;
  readonly deviceSha256: string;
  readonly userCode: string;
  readonly label: string;
  readonly address: string;
}

export interface WaitingDevice {
  readonly label: string;
  readonly address: string;
  readonly begunAt: Date;
}

export interface CodeTyper {
  readonly organization: string;
  readonly principal: string;
}

/** Commands on other machines that wait until somebody types their code. */
export interface DeviceStore {
  /** @returns when it is over; undefined where as many wait as may, of the organization or of the address, or the code is in use */
  begin(attempt: DeviceAttempt, most: { readonly inAll: number; readonly ofAddress: number }): Promise<Date | undefined>;
  /** @param most wrong codes in ten minutes; then none is looked at @returns undefined where nobody waits with this code */
  find(typer: CodeTyper, userCode: string, most: number): Promise<WaitingDevice | "too_many" | undefined>;
  /** @returns as find, and undefined for who is no member */
  answer(typer: CodeTyper, userCode: string, allow: boolean, write: WriteEvent): Promise<boolean>;
  /** Once: the device is forgotten with any answer. `early`: it asked a moment ago. Undefined where there is none. */
  redeem(deviceSha256: string, next: TokenPair, write: WriteEvent): Promise<LetInCommand | "waiting" | "early" | "denied" | undefined>;
}
