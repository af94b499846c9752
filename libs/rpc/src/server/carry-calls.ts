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
  let isClosing = false;
  server.shutdownSignal.addEventListener("abort", () => {
    for (const calls of open) calls.end(server.shutdownSignal.reason);
  });
  return {
    take: (stream, headers) => {
      const isCarrying =
        headers[":path"] === PATH && headers[":method"] === "POST" && headers["content-type"] === "application/connect+proto";
      if (!isCarrying) return false;
      // Reset in the bytes that opened it: Node throws where such a stream is answered.
      if (stream.closed || stream.destroyed) return true;
      const calls = new CarriedCalls(stream, `${headers[":scheme"]}://${headers[":authority"]}`, server);
      open.add(calls);
      stream.once("close", () => open.delete(calls));
      if (isClosing) calls.close();
      return true;
    },
    close: () => {
      isClosing = true;
      for (const calls of open) calls.close();
    },
  };
}
