import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { NodeHandlerFn } from "@hlvm/rpc/node-handler";

export type Request = Parameters<NodeHandlerFn>[0];

const USUAL_MAXIMUM_BYTES = 2 * 1024 * 1024;
const DEADLINE_MILLISECONDS = 30_000;

/**
 * The whole body as text.
 * @throws HlvmError `body_too_large`, `body_not_utf8`, `body_incomplete`
 */
export async function readBody(request: Request, maximumBytes = USUAL_MAXIMUM_BYTES): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const deadline = setTimeout(() => request.destroy(new Error("the body did not come in time")), DEADLINE_MILLISECONDS);
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maximumBytes)
        throw invalid(
          "body_too_large",
          `The body is larger than ${maximumBytes} bytes.`,
          "Send less, or attach files through the command line.",
        );
      chunks.push(chunk);
    }
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    if (cause instanceof HlvmError) throw cause;
    if (cause instanceof TypeError) throw invalid("body_not_utf8", "The body is not valid UTF-8.", "Send JSON in UTF-8.", cause);
    throw invalid("body_incomplete", "The body did not arrive whole.", "Send the request again.", cause);
  } finally {
    clearTimeout(deadline);
  }
}

function invalid(reason: string, message: string, advice: string, cause?: unknown): HlvmError {
  return new HlvmError({ code: "invalid_argument", reason, message, advice, cause });
}
