import { randomUUID } from "node:crypto";
import type { Database } from "@hlvm/postgres/database";
import type { CodeTyper, DeviceAttempt, DeviceStore, WaitingDevice } from "../../domain/identity/device-store.ts";
import type { LetInCommand, TokenPair, WriteEvent } from "../../domain/identity/login-store.ts";
import { addPair, append } from "./postgres-login-store.ts";

const LASTS = "interval '10 minutes'";
/** A little less than the five seconds that commands wait: clocks and networks are not exact. */
const BETWEEN_POLLS = "interval '4 seconds'";

const BEGIN = `
  INSERT INTO identity.device_attempt (device_sha256, organization, user_code, label, address)
  SELECT decode($1, 'hex'), $2, $3, $4, $5
  WHERE (SELECT count(*) < $6 FROM identity.device_attempt WHERE organization = $2)
    AND (SELECT count(*) < $7 FROM identity.device_attempt WHERE organization = $2 AND address = $5)
  ON CONFLICT DO NOTHING RETURNING begun_at + ${LASTS} AS expires_at`;

const FIND = `
  SELECT label, address, begun_at FROM identity.device_attempt
  WHERE organization = $1 AND user_code = $2 AND answer IS NULL AND begun_at > now() - ${LASTS}`;

const COUNT_WRONG = `
  SELECT count(*) >= $3 AS is_full FROM identity.wrong_device_code WHERE organization = $1 AND principal = $2 AND at > now() - ${LASTS}`;

const ANSWER = `
  UPDATE identity.device_attempt SET answer = $4, member_id = member.member_id FROM identity.member
  WHERE device_attempt.organization = $1 AND user_code = $3 AND answer IS NULL AND begun_at > now() - ${LASTS}
    AND member.organization = $1 AND member.principal = $2 AND member.state = 'active'
  RETURNING label, address`;

const ASKED = `
  SELECT answer, label, device_attempt.member_id, principal, begun_at, coalesce(polled_at > now() - ${BETWEEN_POLLS}, false) AS is_early
  FROM identity.device_attempt LEFT JOIN identity.member ON member.member_id = device_attempt.member_id AND state = 'active'
  WHERE device_sha256 = decode($1, 'hex') AND begun_at > now() - ${LASTS} FOR UPDATE OF device_attempt`;

type AskedRow = {
  readonly answer: "allow" | "deny" | null;
  readonly label: string;
  readonly member_id: string | null;
  readonly principal: string | null;
  readonly is_early: boolean;
};

/** Devices in PostgreSQL. */
export class PostgresDeviceStore implements DeviceStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async begin(
    { organization, deviceSha256, userCode, label, address }: DeviceAttempt,
    { inAll, ofAddress }: { readonly inAll: number; readonly ofAddress: number },
  ): Promise<Date | undefined> {
    const values = [deviceSha256, organization, userCode, label, address, inAll, ofAddress];
    return (await this.#database.query<{ expires_at: Date }>(BEGIN, values))[0]?.expires_at;
  }

  find({ organization, principal }: CodeTyper, userCode: string, most: number): Promise<WaitingDevice | "too_many" | undefined> {
    return this.#database.transaction(async (queries) => {
      // One after the other, so that many tries at once are no more than five.
      await queries.query("SELECT pg_advisory_xact_lock(hashtextextended('identity.device ' || $1 || $2, 0))", [organization, principal]);
      const [wrong] = await queries.query<{ is_full: boolean }>(COUNT_WRONG, [organization, principal, most]);
      if (wrong!.is_full) return "too_many";
      const [found] = await queries.query<{ label: string; address: string; begun_at: Date }>(FIND, [organization, userCode]);
      if (found !== undefined) return { label: found.label, address: found.address, begunAt: found.begun_at };
      await queries.query("INSERT INTO identity.wrong_device_code (organization, principal) VALUES ($1, $2)", [organization, principal]);
      return undefined;
    });
  }

  answer({ organization, principal }: CodeTyper, userCode: string, allow: boolean, write: WriteEvent): Promise<boolean> {
    return this.#database.transaction(async (queries) => {
      const values = [organization, principal, userCode, allow ? "allow" : "deny"];
      const [answered] = await queries.query<{ label: string; address: string }>(ANSWER, values);
      if (answered === undefined) return false;
      await append(queries, write("device_answered", { organization, principal }, { ...answered, allow }));
      return true;
    });
  }

  redeem(deviceSha256: string, next: TokenPair, write: WriteEvent): Promise<LetInCommand | "waiting" | "early" | "denied" | undefined> {
    return this.#database.transaction(async (queries) => {
      const [asked] = await queries.query<AskedRow & { begun_at: Date }>(ASKED, [deviceSha256]);
      if (asked === undefined) return undefined;
      if (asked.is_early) return "early";
      await queries.query("UPDATE identity.device_attempt SET polled_at = now() WHERE device_sha256 = decode($1, 'hex')", [deviceSha256]);
      if (asked.answer === null) return "waiting";
      const [gone] = await queries.query<{ organization: string }>(
        "DELETE FROM identity.device_attempt WHERE device_sha256 = decode($1, 'hex') RETURNING organization",
        [deviceSha256],
      );
      if (asked.answer === "deny") return "denied";
      const { member_id, principal, label } = asked;
      if (member_id === null || principal === null) return undefined;
      const login = { member_id, principal, label, family_id: randomUUID(), authenticated_at: new Date() };
      const letIn = await addPair(queries, login, next);
      await append(queries, write("member_logged_in", { organization: gone!.organization, principal }, { kind: "device", label }));
      return letIn;
    });
  }
}
