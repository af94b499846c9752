import type { ConnectRouter } from "@connectrpc/connect";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { cancelRunMethod } from "./cancel-run.ts";
import { getSessionMethod } from "./get-session.ts";
import { listSessionsMethod } from "./list-sessions.ts";
import type { Orchestrator } from "./orchestrator.ts";
import { startRunMethod } from "./start-run.ts";
import { watchMethod } from "./watch.ts";

export function sessionRoutes(orchestrator: Orchestrator): (router: ConnectRouter) => void {
  return (router) =>
    router.service(SessionService, {
      startRun: startRunMethod(orchestrator),
      watch: watchMethod(orchestrator),
      cancelRun: cancelRunMethod(orchestrator),
      listSessions: listSessionsMethod(orchestrator),
      getSession: getSessionMethod(orchestrator),
    });
}
