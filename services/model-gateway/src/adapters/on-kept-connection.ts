import type { Exchange } from "./exchange.ts";

/** Tried for one question. */
const MOST_CONNECTIONS = 4;

/**
 * Asked again where an idle connection was ended just as it was used: llama-server does so, and it says nothing of its health.
 * @param ask what may be asked twice
 */
export async function onKeptConnection<T>(exchange: Exchange, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask();
    } catch (thrown) {
      if (attempt === MOST_CONNECTIONS || exchange.failure(thrown).reason !== "connection_lost") throw thrown;
    }
  }
}
