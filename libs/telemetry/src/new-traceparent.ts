import { randomUUID } from "node:crypto";

const SPAN_ID_DIGITS = 16;

/** With which a program that records nothing itself begins a trace that is to be recorded. Loads nothing of OpenTelemetry. */
export function newTraceparent(): string {
  return `00-${newTraceId()}-${newSpanId()}-01`;
}

/** 32 hex digits. Node keeps random bytes ready for UUIDs; asking the kernel each time costs a tenth of a millisecond. */
export function newTraceId(): string {
  return randomUUID().replaceAll("-", "");
}

/** 16 hex digits. */
export function newSpanId(): string {
  return newTraceId().slice(0, SPAN_ID_DIGITS);
}
