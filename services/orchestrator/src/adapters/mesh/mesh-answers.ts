import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { RunAnswersService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import type { WatchAnswers } from "../../domain/run/answered-runs.ts";
import { meshError } from "./mesh-error.ts";

/** Then it is asked for again, and begins with all that there are: nothing that was missed stays so for longer. */
const WATCH_MILLISECONDS = 60_000;

/** Policy tells which runs have answers, over a connection of its own: a stream that idles keeps no other call. */
export function meshAnswers(policyUrl: string, minter: TokenMinter): WatchAnswers {
  const client = createClient(RunAnswersService, createMeshTransport(policyUrl));
  return async function* (signal) {
    const options = outgoing({ token: minter.mintOwn("policy"), signal, remainingMilliseconds: () => WATCH_MILLISECONDS });
    try {
      for await (const { runIds } of client.watchAnswers({}, options)) yield runIds;
    } catch (thrown) {
      if (ConnectError.from(thrown).code !== Code.DeadlineExceeded) throw meshError(thrown, signal);
    }
  };
}
