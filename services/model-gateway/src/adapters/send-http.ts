import { globalAgent, type Agent as NodeAgent } from "node:http";
import { Agent, EnvHttpProxyAgent, type Dispatcher } from "undici";
import type { Exchange } from "./exchange.ts";
import { HttpAnswer } from "./http-answer.ts";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whose certificates are trusted; left out: those that Node trusts. */
  readonly ca?: string;
  /** Of its own, which ends with it; left out: one of those that are kept. */
  readonly connection?: "own" | undefined;
}

/** Time limits are those of the exchange. */
const OPTIONS: Agent.Options = { allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
/** As Node's own agents do. Its type leaves the option out. */
const GOES_THROUGH_PROXY = (globalAgent as NodeAgent & { readonly options: { readonly proxyEnv?: object } }).options.proxyEnv !== undefined;
const kept = newDispatcher();
let trusting: { readonly ca: string; readonly dispatcher: Dispatcher } | undefined;

/** Some gateways in front of a model server turn away whoever does not say what it is. */
const OWN_HEADERS = { "user-agent": "hlvm", "accept-encoding": "identity" };

/**
 * One request, and its answer as soon as the headers are there; redirects are not followed. The connection is destroyed when
 * the exchange ends. At a fraction of the cost of `fetch`; through the proxy of the environment where NODE_USE_ENV_PROXY says
 * so, as `fetch` does.
 * @throws the network's error, with its `code`; ModelError where the exchange has ended before
 */
export async function sendHttp(exchange: Exchange, url: string, request: HttpRequest): Promise<HttpAnswer> {
  exchange.throwIfEnded();
  const { origin, pathname, search, username, password } = new URL(url);
  const answer = new HttpAnswer(exchange);
  const headers = { ...OWN_HEADERS, ...(username === "" ? {} : basic(username, password)), ...request.headers };
  const { method, body, connection } = request;
  const dispatcher = connection === "own" ? newDispatcher() : dispatcherFor(request);
  dispatcher.dispatch({ origin, path: pathname + search, method, headers, body: body ?? null }, answer);
  // It takes nothing more, and closes behind its answer.
  if (connection === "own") void dispatcher.close();
  return answer.begun;
}

function basic(username: string, password: string): { readonly authorization: string } {
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

function dispatcherFor({ ca }: HttpRequest): Dispatcher {
  if (ca === undefined) return kept;
  if (trusting?.ca !== ca) {
    void trusting?.dispatcher.close();
    trusting = { ca, dispatcher: newDispatcher({ ca }) };
  }
  return trusting.dispatcher;
}

function newDispatcher(tls: { readonly ca?: string } = {}): Dispatcher {
  const options = { ...OPTIONS, connect: tls };
  if (!GOES_THROUGH_PROXY) return new Agent(options);
  // A tunnel for https alone: proxies often refuse one to the ports of http.
  return new EnvHttpProxyAgent({ ...options, proxyTunnel: false, requestTls: tls });
}
