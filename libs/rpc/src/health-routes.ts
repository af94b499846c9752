import type { ConnectRouter } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@hlvm/proto/grpc/health/v1/health_pb";

/** Answers SERVING for the process and for each service that it serves. */
export function healthRoutes(router: ConnectRouter, served: readonly string[]): void {
  router.service(Health, {
    check: ({ service }) => {
      if (service !== "" && !served.includes(service))
        throw new HlvmError({ code: "not_found", reason: "service_unknown", message: `${service} is not served here.` });
      return { status: Status.SERVING };
    },
  });
}
