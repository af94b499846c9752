import type { Settings } from "./hook-entries.ts";

/** What some editors begin a file with; tools read on behind it. */
const BYTE_ORDER_MARK = "\uFEFF";

/** @throws Error where it is no JSON object in UTF-8 */
export function parseSettings(bytes: Uint8Array): Settings {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  const parsed: unknown = JSON.parse(text, exactNumber);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw new Error("it is no object");
  return parsed as Settings;
}

/** As the one before was written: its first mark, its indentation, its line ends, and whether its last line is ended. */
export function settingsBytes(settings: Settings, before: Uint8Array | undefined): Buffer {
  const text = before === undefined ? "{\n  \n}\n" : Buffer.from(before).toString();
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = JSON.stringify(settings, undefined, indent).replaceAll("\n", lineEnd);
  return Buffer.from((text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "") + lines + (text.endsWith("\n") ? lineEnd : ""));
}

/** A number that JavaScript cannot hold is written again as it stood there. */
function exactNumber(_key: string, value: unknown, { source }: { readonly source?: string } = {}): unknown {
  return typeof value === "number" && source !== undefined && JSON.stringify(value) !== source ? rawJson(source) : value;
}

/** Which TypeScript does not know yet. */
const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON: (source: string) => object };
