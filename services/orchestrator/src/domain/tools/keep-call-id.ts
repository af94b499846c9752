/** The name of the call that asks to keep what a call changed and may not change without a person's word. */
export function keepCallId(callId: string): string {
  return `${callId}.keep`;
}
