import type { ConnectRouter } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@hlvm/proto/grpc/health/v1/health_pb";

/** Asked by what starts and routes: a process that does not live is started again, one that is not ready gets no calls. */
const LIVENESS = "liveness";
const READINESS = "readiness";

/** Answers SERVING for the process and for each service that it serves; once it is draining, for its liveness alone. */
export function healthRoutes(router: ConnectRouter, served: readonly string[], draining: AbortSignal): void {
  const known = new Set(["", LIVENESS, READINESS, ...served]);
  router.service(Health, {
    check: ({ service }) => {
      if (!known.has(service))
        throw new HlvmError({ code: "not_found", reason: "service_unknown", message: `${service} is not served here.` });
      return { status: draining.aborted && service !== LIVENESS ? Status.NOT_SERVING : Status.SERVING };
    },
  });
}
