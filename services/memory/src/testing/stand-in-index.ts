import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { MeilisearchConnection } from "../adapters/meilisearch-connection.ts";

/** A connection to what answers so in place of Meilisearch, until the test is over. */
export async function standInIndex(answer: RequestListener): Promise<MeilisearchConnection> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new MeilisearchConnection({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: "" });
}
