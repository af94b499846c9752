import { readFileSync } from "node:fs";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";

const DEADLINE_MILLISECONDS = 10_000;

interface CodeAnswer {
  readonly code?: string;
  readonly error?: { readonly message: string; readonly advice: string; readonly reason: string };
}

/**
 * A link that opens the page for whoever has the token file: once, and within a minute. The code stands behind `#`, which no
 * browser sends anywhere.
 * @throws HlvmError
 */
export async function pageLink(edgeUrl: string, tokenFile: string): Promise<string> {
  const { code, error } = await askForCode(edgeUrl, tokenFile);
  if (code !== undefined) return `${edgeUrl}/#code=${code}`;
  throw new HlvmError({
    code: "failed_precondition",
    reason: error?.reason ?? "page_not_opened",
    message: error?.message ?? `The edge at ${edgeUrl} gave no code for the page.`,
    advice: error?.advice ?? "`hlvm doctor` tells what is wrong.",
  });
}

async function askForCode(edgeUrl: string, tokenFile: string): Promise<CodeAnswer> {
  try {
    const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
    const signal = AbortSignal.timeout(DEADLINE_MILLISECONDS);
    const response = await fetch(`${edgeUrl}/auth/code`, { method: "POST", headers: { authorization }, signal });
    return (await response.json()) as CodeAnswer;
  } catch (cause) {
    throw new HlvmError({
      code: "unavailable",
      reason: "page_not_opened",
      message: `The edge at ${edgeUrl} did not answer: ${messageOf(cause)}.`,
      advice: "`hlvm status` tells whether the mesh is up.",
      cause,
    });
  }
}
