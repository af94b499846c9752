import { once } from "node:events";
import type { ConnectError } from "@connectrpc/connect";
import type { Client, ClientDuplexStream, StatusObject } from "@grpc/grpc-js";
import { statusError, toHeaders, toMetadata } from "./status-error.ts";

export interface CallToOpen {
  /** `/service/method` */
  readonly path: string;
  readonly header: Headers;
  /** Milliseconds of the clock of the day. */
  readonly deadline: number | undefined;
  readonly signal: AbortSignal;
  readonly messages: AsyncIterable<Uint8Array>;
}

export interface OpenCall {
  readonly header: Headers;
  /** Filled when the messages have ended. */
  readonly trailer: Headers;
  /** @throws ConnectError */
  readonly messages: AsyncIterable<Uint8Array>;
}

type Stream = ClientDuplexStream<Uint8Array, Uint8Array>;

/** Resolves when the service answers, or the call ends well without an answer. @throws ConnectError */
export async function openCall(client: Client, { path, header, deadline, signal, messages }: CallToOpen): Promise<OpenCall> {
  const stream: Stream = client.makeBidiStreamRequest(path, toBuffer, asIs, toMetadata(header), { deadline: deadline ?? Infinity });
  const trailer = new Headers();
  let isAnswered = false;
  let unsent: unknown;
  const cancel = (): void => stream.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  const ended = new Promise<ConnectError | undefined>((resolve) =>
    stream.once("status", (status: StatusObject) => {
      signal.removeEventListener("abort", cancel);
      for (const [name, value] of toHeaders(status.metadata)) trailer.append(name, value);
      resolve(statusError(status, isAnswered));
    }),
  );
  // Of what the status tells. Nothing else listens before somebody reads.
  stream.on("error", () => undefined);
  const answered = new Promise<Headers>((resolve) =>
    stream.once("metadata", (metadata) => {
      isAnswered = true;
      resolve(toHeaders(metadata));
    }),
  );
  const failIfEnded = async (): Promise<void> => {
    const error = await ended;
    if (unsent !== undefined) throw unsent;
    if (error !== undefined) throw error;
  };
  async function* read(): AsyncGenerator<Uint8Array, void> {
    yield* untilEnd(stream);
    await failIfEnded();
  }

  send(stream, messages, signal).catch((thrown: unknown) => {
    unsent = thrown;
    stream.cancel();
  });
  if (signal.aborted) cancel();
  return { header: await Promise.race([answered, failIfEnded().then(() => new Headers())]), trailer, messages: read() };
}

async function send(stream: Stream, messages: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
  for await (const message of messages) {
    if (signal.aborted) return;
    if (!stream.write(message)) await once(stream, "drain", { signal });
  }
  stream.end();
}

/** What the stream ends with is told by its status. */
async function* untilEnd(stream: Stream): AsyncGenerator<Uint8Array, void> {
  const messages = stream[Symbol.asyncIterator]();
  for (;;) {
    const next = await messages.next().catch(() => undefined);
    if (next === undefined || next.done === true) return;
    yield next.value as Uint8Array;
  }
}

function toBuffer(message: Uint8Array): Buffer {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength);
}

function asIs(message: Buffer): Uint8Array {
  return message;
}
