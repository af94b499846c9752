import { Agent, request, type ClientRequest, type IncomingMessage } from "node:http";
import { once } from "node:events";

/** What is asked of every gateway that is measured. */
export interface Asked {
  readonly model: string;
  /** Of the question, in bytes. */
  readonly bytes?: number;
}

export interface Heard {
  /** Of the answer, as it came, with when (`performance.now()`). */
  readonly pieces: readonly { readonly text: string; readonly at: number }[];
}

export interface Way {
  readonly name: string;
  readonly ask: (asked: Asked) => Promise<Heard>;
  /** Whose memory is measured; undefined where there is no process between. */
  readonly pid?: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 4_096 });

export interface HttpDoor {
  readonly name: string;
  /** With the /v1. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pid?: number;
  /** Before the model's name. */
  readonly prefix?: string;
  readonly isStreamed?: boolean;
}

/** OpenAI's chat completions over HTTP, with as little as that takes on this side. */
export function httpWay({ name, url, headers = {}, pid, prefix = "", isStreamed = true }: HttpDoor): Way {
  return {
    name,
    ...(pid === undefined ? {} : { pid }),
    ask: async ({ model, bytes = 20 }) => {
      const body = JSON.stringify({ model: prefix + model, stream: isStreamed, messages: [{ role: "user", content: "x".repeat(bytes) }] });
      const length = Buffer.byteLength(body);
      const options = { agent, method: "POST", headers: { "content-type": "application/json", "content-length": length, ...headers } };
      const response = await responseTo(() => request(`${url}/chat/completions`, options).end(body));
      const pieces: { text: string; at: number }[] = [];
      for await (const piece of response) pieces.push({ text: String(piece), at: performance.now() });
      const text = pieces.map((piece) => piece.text).join("");
      if (response.statusCode !== 200 || !text.includes('"stop"'))
        throw new Error(`${name} answers ${response.statusCode}: ${text.slice(0, 300)}`);
      return { pieces };
    },
  };
}

/** Sent again where its server just closed the connection that was kept for it. */
async function responseTo(send: () => ClientRequest): Promise<IncomingMessage> {
  const sent = send();
  try {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return response;
  } catch (error) {
    if (sent.reusedSocket && (error as NodeJS.ErrnoException).code === "ECONNRESET") return responseTo(send);
    throw error;
  }
}
