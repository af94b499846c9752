import { Agent as HttpAgent, globalAgent as sharedHttp, request as requestHttp, type AgentOptions } from "node:http";
import { Agent as HttpsAgent, globalAgent as sharedHttps, request as requestHttps } from "node:https";
import type { Exchange } from "./exchange.ts";
import { HttpAnswer } from "./http-answer.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whose certificates are trusted; left out: those that Node trusts. */
  readonly ca?: string;
  /** Of its own, which ends with it; left out: one of those that Node's agents keep. */
  readonly connection?: "own" | undefined;
}

/** As Node's, with the environment's proxy, and without keeping anything. */
const OWN = {
  // Its type leaves them out.
  http: new HttpAgent({ ...(sharedHttp as HttpAgent & { readonly options: AgentOptions }).options, keepAlive: false }),
  https: new HttpsAgent({ ...sharedHttps.options, keepAlive: false }),
};
/** Some gateways in front of a model server turn away whoever does not say what it is. */
const OWN_HEADERS = { "user-agent": "hlvm", "accept-encoding": "identity" };

/**
 * One request, and its answer as soon as the headers are there; redirects are not followed. The connection is destroyed when
 * the exchange ends. At a fraction of the cost of `fetch`, and through Node's own agents: they keep connections for the next
 * request, and go through the proxy of the environment where NODE_USE_ENV_PROXY says so, as `fetch` does.
 * @throws the network's error, with its `code`; ModelError where the exchange has ended before
 */
export function sendHttp(exchange: Exchange, url: string, { method, headers, body, ca, connection }: HttpRequest): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    exchange.throwIfEnded();
    const target = new URL(url);
    const start = target.protocol === "https:" ? requestHttps : requestHttp;
    const request = start(target, {
      method,
      headers: { ...OWN_HEADERS, ...headers },
      ...(ca === undefined ? {} : { ca }),
      ...(connection === "own" ? { agent: OWN[target.protocol === "https:" ? "https" : "http"] } : {}),
    });
    request.once(
      "close",
      exchange.onEnd((reason) => request.destroy(reason as Error)),
    );
    request.on("error", reject);
    request.once("response", (response) => {
      exchange.heard();
      resolve(new HttpAnswer(response, exchange));
    });
    request.end(body);
  });
}
