import { createMethodImplSpec, createServiceImplSpec, type ConnectRouter, type MethodImplSpec } from "@connectrpc/connect";

/** A router that hands everything on to another, and keeps by path what it is told. Methods with options of their own are not kept. */
export function recordMethods(router: ConnectRouter, methods: Map<string, MethodImplSpec>): ConnectRouter {
  const keep = (spec: MethodImplSpec): void => {
    methods.set(`/${spec.method.parent.typeName}/${spec.method.name}`, spec);
  };
  const recording: ConnectRouter = {
    handlers: router.handlers,
    service: (service, implementation, options) => {
      router.service(service, implementation, options);
      if (options === undefined) Object.values(createServiceImplSpec(service, implementation).methods).forEach(keep);
      return recording;
    },
    rpc: (method, implementation, options) => {
      router.rpc(method, implementation, options);
      if (options === undefined) keep(createMethodImplSpec(method, implementation));
      return recording;
    },
  };
  return recording;
}
