import { publicKeysOf } from "@hlvm/identity/public-keys";
import type { JWK } from "@hlvm/identity/signing-key";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { testLog } from "@hlvm/testing/test-log";
import { setTimeout as sleep } from "node:timers/promises";
import { answerCalls } from "../answer-calls.ts";
import { CONNECTION_LIMITS } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";

const MILLISECONDS = 5;

export interface ServedReplica {
  /** What it answers to every call. */
  readonly name: string;
  /** 127.0.0.1 where none is given. */
  readonly host?: string;
  readonly port: number;
  readonly tokenKeys: readonly JWK[];
  /** How long a call of CancelRun takes; the others take 5 ms. */
  readonly cancelMilliseconds: number;
  readonly ageMilliseconds: number;
}

/** One of several servers of a service: it says which one it is. */
export function serveReplica({
  name,
  host = "127.0.0.1",
  port,
  tokenKeys,
  cancelMilliseconds,
  ageMilliseconds,
}: ServedReplica): Promise<RpcServer> {
  return startRpcServer({
    host,
    port,
    log: testLog,
    services: [SessionService.typeName, SandboxService.typeName],
    authenticate: new TokenVerifier("sandbox", publicKeysOf(tokenKeys)),
    limits: { ...CONNECTION_LIMITS, ageMilliseconds },
    routes: (router) => {
      router.service(SessionService, {
        listSessions: async () => {
          await sleep(MILLISECONDS);
          return { sessions: [{ title: name }] };
        },
        cancelRun: () => sleep(cancelMilliseconds, {}),
        watch: async function* () {
          yield { events: [{ sessionId: name }] };
          await sleep(MILLISECONDS);
          yield { events: [{ sessionId: name }] };
        },
      });
      router.service(SandboxService, {
        streamCalls: (requests, context) =>
          answerCalls(requests, context, {
            async *answer() {
              await sleep(MILLISECONDS);
              yield { case: "execute" as const, value: { event: { case: "result" as const, value: { content: name } } } };
            },
            isLast: () => true,
          }),
      });
    },
  });
}
