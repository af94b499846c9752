import type { connectNodeAdapter } from "@connectrpc/connect-node";

/** A request handler for Node's HTTP/1.1 and HTTP/2 servers alike. */
export type NodeHandlerFn = ReturnType<typeof connectNodeAdapter>;
