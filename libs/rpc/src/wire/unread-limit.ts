/** How much of a call's answers may be unread before the service waits, as the contract of `hlvm.mesh.v1` has it. */
export const UNREAD_LIMIT = 65_536;
const WEIGHT_OF_AN_ANSWER = 64;

/** What an answer counts for: more than its bytes, so that empty ones are not for nothing. */
export function weightOf(answer: Uint8Array): number {
  return answer.length + WEIGHT_OF_AN_ANSWER;
}
