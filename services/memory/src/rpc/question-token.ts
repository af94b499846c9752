import { createHash } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { FactFilter, Heads, Place } from "../domain/fact-history.ts";
import type { Viewer } from "../domain/viewer.ts";

const AT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HEAD = /^\d{1,18}$/;

/** What a person asked; a token of its answer goes on with that question alone. */
export interface Question {
  readonly method: "facts" | "ended" | "changes" | "watch";
  readonly viewer: Viewer;
  readonly filter: FactFilter;
}

export function encodePlace(question: Question, place: Place | undefined): string {
  return place === undefined ? "" : encode(question, [place.at, place.id]);
}

/** @returns undefined for the first page @throws HlvmError `page_token_invalid` */
export function decodePlace(question: Question, token: string): Place | undefined {
  if (token === "") return undefined;
  const [at, id, ...rest] = decode(question, token);
  if (at === undefined || id === undefined || rest.length > 0 || !AT.test(at) || !isTime(at) || !ID.test(id)) throw invalid();
  return { at, id };
}

export function encodeHeads(question: Question, heads: Heads): string {
  return encode(question, heads);
}

/** @returns undefined for from now on @throws HlvmError `page_token_invalid` */
export function decodeHeads(question: Question, token: string): Heads | undefined {
  if (token === "") return undefined;
  const heads = decode(question, token);
  if (heads.length !== (question.viewer.project === "" ? 2 : 3) || !heads.every((head) => HEAD.test(head))) throw invalid();
  return heads;
}

function encode(question: Question, parts: readonly string[]): string {
  return Buffer.from([hashOf(question), ...parts].join(" ")).toString("base64url");
}

function decode(question: Question, token: string): string[] {
  const [hash, ...parts] = Buffer.from(token, "base64url").toString().split(" ");
  if (hash !== hashOf(question)) throw invalid();
  return parts;
}

function hashOf({ method, viewer, filter }: Question): string {
  const { organization, principal, project } = viewer;
  const { scope, origin, type, category, principal: by, since, until, pinned = false } = filter;
  const question = [method, organization, principal, project, scope, origin, type, category, by, since, until, pinned];
  return createHash("sha256").update(JSON.stringify(question)).digest("base64url").slice(0, 22);
}

/** PostgreSQL refuses a day that there is not. */
function isTime(text: string): boolean {
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString().slice(0, 19) === text.slice(0, 19);
}

function invalid(): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "page_token_invalid",
    message: "The token is none that an answer to this question ended with.",
    advice: "Give it as it came, with the same filters, or leave it out to begin anew.",
  });
}
