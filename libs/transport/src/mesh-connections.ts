import type { ClientHttp2Stream, Http2Session } from "node:http2";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { PING_INTERVAL_MILLISECONDS, PING_TIMEOUT_MILLISECONDS, WINDOW_BYTES } from "./connection-settings.ts";

/** While more than this waits to be sent Node refuses headers that come: with its own 10, those of the first answer. */
const MAXIMUM_SESSION_MEGABYTES = 1_024;

/**
 * The connections of one transport. connect-node takes its listeners from a connection that it has left, and one that was told
 * to go away raises its error only behind that: where nobody hears it, the process ends (connectrpc/connect-es#1768).
 */
export class MeshConnections extends Http2SessionManager {
  readonly #heard = new WeakSet<Http2Session>();

  constructor(url: string) {
    super(
      url,
      { pingIntervalMs: PING_INTERVAL_MILLISECONDS, pingTimeoutMs: PING_TIMEOUT_MILLISECONDS },
      { settings: { enablePush: false, initialWindowSize: WINDOW_BYTES }, maxSessionMemory: MAXIMUM_SESSION_MEGABYTES },
    );
  }

  override async request(...request: Parameters<Http2SessionManager["request"]>): Promise<ClientHttp2Stream> {
    const stream = await super.request(...request);
    const { session } = stream;
    if (session !== undefined && !this.#heard.has(session)) {
      this.#heard.add(session);
      session.on("error", () => undefined);
    }
    return stream;
  }
}
