import { MeshService } from "@hlvm/proto/hlvm/mesh/v1/mesh_pb";
import { CarriedCalls } from "./carried-calls.ts";
import type { ServerParts } from "./server-parts.ts";
import type { TakeStream } from "./take-stream.ts";

const PATH = `/${MeshService.typeName}/${MeshService.method.carry.name}`;

export interface Carrying {
  readonly take: TakeStream;
  /** From now on no call is begun on any stream; each ends with the last of its calls. */
  readonly close: () => void;
}

/** Answers the calls that the services of the mesh make of each other; all other requests are for somebody else. */
export function carryCalls(server: ServerParts): Carrying {
  const open = new Set<CarriedCalls>();
  server.shutdownSignal.addEventListener("abort", () => {
    for (const calls of open) calls.end(server.shutdownSignal.reason);
  });
  return {
    take: (stream, headers) => {
      if (headers[":path"] !== PATH || headers["content-type"] !== "application/connect+proto") return false;
      const calls = new CarriedCalls(stream, `${headers[":scheme"]}://${headers[":authority"]}`, server);
      open.add(calls);
      stream.once("close", () => open.delete(calls));
      return true;
    },
    close: () => {
      for (const calls of open) calls.close();
    },
  };
}
