import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createValidator } from "@bufbuild/protovalidate";
import type { ConnectRouter, Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createValidateInterceptor } from "@connectrpc/validate";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import type { Log } from "@hlvm/log/create-log";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@hlvm/proto/grpc/health/v1/health_pb";
import { keepTraceContext } from "@hlvm/telemetry/trace-context";
import { authenticateInterceptor } from "./authenticate-interceptor.ts";
import { bothProtocols } from "./both-protocols.ts";
import { errorInterceptor } from "./error-interceptor.ts";
import { matchesPattern } from "./matches-pattern.ts";
import { MAXIMUM_MESSAGE_BYTES } from "@hlvm/transport/maximum-message-bytes";
import type { NodeHandlerFn } from "./node-handler.ts";
import { CONNECTION_LIMITS, type ConnectionLimits } from "./server/connection-limits.ts";
import { watchForCallerFaults } from "./server/caller-faults.ts";
import { connectionValues, streamServerInterceptor } from "./stream-server.ts";
import { traceServerInterceptor } from "@hlvm/telemetry/trace-interceptors";

/** For streams of calls to go elsewhere, and for whoever asks for the health, before connections are closed. */
const NOTICE_MILLISECONDS = 100;
const CLOSE_GRACE_MILLISECONDS = 500;
/** From there on. */
const CUT_MILLISECONDS = 500;
const MAXIMUM_DEADLINE_MILLISECONDS = 60 * 60 * 1000;
/** Asked by what starts and routes: a process that does not live is started again, one that is not ready gets no calls. */
const LIVENESS = "liveness";
const READINESS = "readiness";

export interface RpcServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly log: Log;
  readonly routes: (router: ConnectRouter) => void;
  /** Full names of the services behind `routes`, for health checks. */
  readonly services: readonly string[];
  /** Who is calling: verifies the internal token in every service; the edge has its own. */
  readonly authenticate: TokenVerifier | Interceptor;
  /** Full names of those that other services call in their own name. */
  readonly forServices?: readonly string[];
  /** Gets every request first, plain HTTP included; returns true where it answered. Must not throw. */
  readonly before?: (...request: Parameters<NodeHandlerFn>) => Promise<boolean>;
  /** `CONNECTION_LIMITS` where none are given. */
  readonly limits?: ConnectionLimits;
  /** How long calls that are under way may go on when the server closes; then their signal is aborted. 500 where none is given. */
  readonly graceMilliseconds?: number;
}

export interface RpcServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/**
 * A server of the mesh: gRPC, gRPC-Web and Connect on one port, every call with a verified caller and a valid request.
 * @throws HlvmError `port_taken`
 */
export async function startRpcServer(options: RpcServerOptions): Promise<RpcServer> {
  const { authenticate, graceMilliseconds: grace = CLOSE_GRACE_MILLISECONDS } = options;
  keepTraceContext();
  const shutdown = new AbortController();
  const validator = createValidator({ regexMatch: matchesPattern });
  const draining = new AbortController();
  const isMesh = typeof authenticate !== "function";
  const adapter = connectNodeAdapter({
    routes: (router) => {
      options.routes(router);
      healthRoutes(router, options.services, draining.signal);
    },
    interceptors: [
      traceServerInterceptor,
      errorInterceptor(options.log),
      isMesh ? authenticateInterceptor(authenticate, options.forServices) : authenticate,
      ...(isMesh ? [streamServerInterceptor({ verifier: authenticate, validator, log: options.log, draining: draining.signal })] : []),
      createValidateInterceptor({ validator }),
    ],
    contextValues: connectionValues,
    requestGate: watchForCallerFaults,
    readMaxBytes: MAXIMUM_MESSAGE_BYTES,
    // Connect's client leaves an answer that it refuses lying in the connection, where it stops the answers of other calls.
    writeMaxBytes: MAXIMUM_MESSAGE_BYTES,
    // grpc-js accepts compressed answers and cannot be told not to; between services they cost more than they save.
    compressMinBytes: isMesh ? Number.MAX_SAFE_INTEGER : undefined,
    shutdownSignal: shutdown.signal,
    maxTimeoutMs: MAXIMUM_DEADLINE_MILLISECONDS,
  });
  const { before = () => Promise.resolve(false) } = options;
  const handle = async (...[request, response]: Parameters<NodeHandlerFn>): Promise<void> => {
    try {
      // The adapter throws where no URL can be made of the request, as with a Host that is none.
      if (!(await before(request, response))) adapter(request, response);
    } catch (cause) {
      options.log.warn({ err: cause }, "a request failed before it reached a method");
      response.destroy();
    }
  };
  const handler: NodeHandlerFn = (request, response) => void handle(request, response);
  const { server, close: closeConnections } = bothProtocols(handler, {
    limits: options.limits ?? CONNECTION_LIMITS,
    closeGraceMilliseconds: grace + CUT_MILLISECONDS,
    isMesh,
  });
  const close = async (): Promise<void> => {
    draining.abort();
    await sleep(NOTICE_MILLISECONDS);
    const graceOver = setTimeout(() => shutdown.abort(), grace);
    await closeConnections();
    clearTimeout(graceOver);
  };

  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(listenError(cause, options)));
    server.listen(options.port, options.host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close };
}

function listenError(cause: NodeJS.ErrnoException, { host, port }: RpcServerOptions): HlvmError {
  if (cause.code !== "EADDRINUSE")
    return new HlvmError({
      code: "unavailable",
      reason: "cannot_listen",
      message: `Cannot listen on ${host}:${port}: ${cause.message}.`,
      cause,
    });
  return new HlvmError({
    code: "unavailable",
    reason: "port_taken",
    message: `Port ${port} on ${host} is taken by another process.`,
    advice: `End that process (\`ss -ltnp 'sport = :${port}'\` names it), or set HLVM_PORT to another port.`,
    cause,
  });
}

/** Answers SERVING for the process and for each service that it serves; once it is draining, for its liveness alone. */
function healthRoutes(router: ConnectRouter, served: readonly string[], draining: AbortSignal): void {
  const known = new Set(["", LIVENESS, READINESS, ...served]);
  router.service(Health, {
    check: ({ service }) => {
      if (!known.has(service))
        throw new HlvmError({ code: "not_found", reason: "service_unknown", message: `${service} is not served here.` });
      return { status: draining.aborted && service !== LIVENESS ? Status.NOT_SERVING : Status.SERVING };
    },
  });
}
