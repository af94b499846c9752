import { Code, ConnectError, type Interceptor, type Transport } from "@connectrpc/connect";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { newTraceparent } from "@hlvm/telemetry/new-traceparent";

/**
 * A connection to the edge: every call carries the token and belongs to one trace, and an edge that does not answer is said in words.
 * @param token asked for anew for each call where it can change
 */
export function createEdgeTransport(edgeUrl: string, token: string | (() => Promise<string>), traceparent = newTraceparent()): Transport {
  const authorize: Interceptor = (next) => async (request) => {
    request.header.set("authorization", `Bearer ${typeof token === "string" ? token : await token()}`);
    request.header.set("traceparent", traceparent);
    try {
      return await next(request);
    } catch (thrown) {
      throw explained(thrown, edgeUrl);
    }
  };
  return createMeshTransport(edgeUrl, [authorize]);
}

function explained(thrown: unknown, edgeUrl: string): unknown {
  if (!(thrown instanceof ConnectError) || thrown.code !== Code.Unavailable || thrown.findDetails(ErrorAdviceSchema).length > 0)
    return thrown;
  const value = { reason: "edge_unavailable", advice: "`hlvm status` tells whether the mesh is up, `hlvm doctor` what is wrong." };
  const message = `The edge at ${edgeUrl} does not answer: ${thrown.rawMessage}.`;
  return new ConnectError(message, Code.Unavailable, undefined, [{ desc: ErrorAdviceSchema, value }], thrown);
}
