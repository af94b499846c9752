import type { auditFieldWords } from "@hlvm/proto/hlvm/audit/v1/audit_words";
import type { AuditEvent, RecordedEvent } from "./audit-event.ts";
import type { AuditFilter } from "./audit-log.ts";

export type AuditField = (typeof auditFieldWords)[number];

export interface AskedCounts {
  readonly by: readonly AuditField[];
  /** How many values of a field are told. */
  readonly top: number;
  /** Spans of time, each as long as the next; left out where none are asked for. */
  readonly spans?: { readonly start: Date; readonly seconds: number };
}

/** How many events have a value; "" where they have none. */
export interface ValueCount {
  readonly value: string;
  readonly events: number;
}

export interface FieldCounts {
  readonly field: AuditField;
  /** Most events first. */
  readonly counts: readonly ValueCount[];
  /** Of the values that were left out. */
  readonly otherEvents: number;
}

export interface SpanCounts {
  readonly events: number;
  readonly allowed: number;
  readonly asked: number;
  readonly denied: number;
}

export interface AuditCounts {
  readonly events: number;
  readonly fields: readonly FieldCounts[];
  /** By the number of the span, from 0; those without an event are left out. */
  readonly spans: ReadonlyMap<number, SpanCounts>;
}

/** What is asked of the log besides its pages. Whatever is read is of the reader's organization, and never without the reading on record. */
export interface AuditReports {
  count(filter: AuditFilter, asked: AskedCounts, reading: AuditEvent): Promise<AuditCounts>;
  /** All of a session, oldest first, from behind an event on. */
  timeline(sessionId: string, afterId: bigint, limit: number, reading: AuditEvent): Promise<RecordedEvent[]>;
  /** When the first event of a kind was recorded. */
  firstAt(organization: string, kind: AuditFilter["kind"]): Promise<Date | undefined>;
  /** Records a reading by itself: of what is then read with `after`. @returns the id of the newest event */
  beginTail(reading: AuditEvent): Promise<bigint>;
  /** Oldest first, from behind an event on, an intent without its outcome. */
  after(organization: string, filter: AuditFilter, afterId: bigint, limit: number): Promise<RecordedEvent[]>;
}
