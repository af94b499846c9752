import type { DescMethod, DescMethodServerStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Backends } from "./backends.ts";
import { forwardServerStreaming, forwardUnary } from "./forward.ts";
import { PUBLIC_SERVICES } from "./public-methods.ts";

/** Every public method, forwarded; the other methods of the same services, refused. */
export function routes(router: ConnectRouter, backends: Backends): void {
  for (const { service, backend, methods } of PUBLIC_SERVICES) {
    for (const method of service.methods) {
      const isOpen = methods.includes(method.localName);
      if (isUnary(method)) router.rpc(method, isOpen ? forwardUnary(method, backends[backend]) : () => refuse(method));
      else if (isServerStreaming(method))
        router.rpc(method, isOpen ? forwardServerStreaming(method, backends[backend]) : () => refuse(method));
      else if (isOpen) throw new Error(`${service.typeName}.${method.name} is of a kind that is not forwarded`);
    }
  }
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function isServerStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === "server_streaming";
}

function refuse(method: DescMethod): never {
  throw new HlvmError({
    code: "unimplemented",
    reason: "method_not_public",
    message: `${method.parent.typeName}.${method.name} is not open to clients.`,
    advice: "Only services of the mesh call it.",
  });
}
