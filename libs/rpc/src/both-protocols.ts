import { createServer as createHttp1Server, type RequestListener } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import { createServer as createSocketServer, type Server, type Socket } from "node:net";
import { WINDOW_BYTES } from "@hlvm/transport/connection-settings";
import type { NodeHandlerFn } from "./node-handler.ts";
import { limitAge } from "./server/connection-age.ts";
import type { ConnectionLimits } from "./server/connection-limits.ts";
import { limitRequest, limitSession } from "./server/limit-http2.ts";

const HTTP2_PREFACE = Buffer.from("PRI * HTTP/2");
const MAXIMUM_STREAMS = 1_000;

export interface BothProtocols {
  readonly server: Server;
  /** Ends idle connections at once, the others when what is under way has ended or the grace is over. */
  readonly close: () => Promise<void>;
}

export interface BothProtocolsOptions {
  readonly limits: ConnectionLimits;
  /** For what is under way when it closes, and for a caller to close its own end after ours. */
  readonly closeGraceMilliseconds: number;
  /**
   * Whether only other services call: on one connection of theirs are the calls of many people, and those that one of them cancels
   * must not end the others', as Node has it after a thousand.
   */
  readonly isMesh: boolean;
}

const MESH_RESETS = { streamResetBurst: 100_000, streamResetRate: 10_000 };

/** One port that speaks HTTP/1.1 (browsers, curl) and HTTP/2 without TLS (gRPC): the first bytes of a connection tell. */
export function bothProtocols(handler: NodeHandlerFn, { limits, closeGraceMilliseconds, isMesh }: BothProtocolsOptions): BothProtocols {
  const { requestHeadMilliseconds, requestMilliseconds } = limits;
  const http1 = createHttp1Server(
    {
      headersTimeout: requestHeadMilliseconds,
      requestTimeout: requestMilliseconds,
      connectionsCheckingInterval: requestHeadMilliseconds / 2,
    },
    handler as RequestListener,
  );
  const settings = { maxConcurrentStreams: MAXIMUM_STREAMS, initialWindowSize: WINDOW_BYTES };
  const http2 = createHttp2Server({ settings, ...(isMesh ? MESH_RESETS : {}) }, (request, response) => {
    limitRequest(request.stream, limits);
    handler(request, response);
  });
  // Node keeps account of HTTP/1.1 connections, for its time limits and for closing idle ones, once a server listens.
  http1.emit("listening");
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    session.setLocalWindowSize(WINDOW_BYTES);
    limitSession(session, limits);
    limitAge(session, limits.ageMilliseconds);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => session.destroy());
  });

  const server = createSocketServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    // Where this process was busy, what came meanwhile is read before anything is called late.
    const deadline = setTimeout(() => setImmediate(() => isKnown || socket.destroy()), requestHeadMilliseconds);
    socket.once("close", () => clearTimeout(deadline));
    socket.once("finish", () => {
      const cut = setTimeout(() => socket.destroy(), closeGraceMilliseconds);
      socket.once("close", () => clearTimeout(cut));
    });
    let first = Buffer.alloc(0);
    let isKnown = false;
    const look = (piece: Buffer): void => {
      first = Buffer.concat([first, piece]);
      const beginning = first.subarray(0, HTTP2_PREFACE.length);
      const isHttp2 = beginning.equals(HTTP2_PREFACE.subarray(0, beginning.length));
      // "P" may yet become "POST".
      if (isHttp2 && beginning.length < HTTP2_PREFACE.length) return;
      isKnown = true;
      clearTimeout(deadline);
      socket.off("data", look);
      socket.pause();
      socket.unshift(first);
      (isHttp2 ? http2 : http1).emit("connection", socket);
      process.nextTick(() => socket.resume());
    };
    socket.on("data", look);
  });
  server.maxConnections = limits.connections;

  const close = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const session of sessions) session.close();
    // Opened ahead of a request that never came, as browsers do.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    http1.close();
    const cut = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, closeGraceMilliseconds);
    await closed;
    clearTimeout(cut);
  };
  return { server, close };
}
