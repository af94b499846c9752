import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";

/** `2026-11-21 14:03:22` in this machine's zone; empty where there is none. */
export function localTime(time: Timestamp | undefined): string {
  if (time === undefined) return "";
  const date = timestampDate(time);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace("T", " ");
}
