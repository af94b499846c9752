import { Code, ConnectError, createClient, type Client, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { WatchService } from "@hlvm/proto/hlvm/watch/v1/watch_pb";

const DEADLINE_MILLISECONDS = 20_000;

/** What the first page needs, through the edge that it came from. */
export interface Clients {
  /** For a page that makes a client of its own, so that only its own script has that contract. */
  readonly transport: Transport;
  readonly sessions: Client<typeof SessionService>;
  readonly policy: Client<typeof PolicyService>;
  readonly models: Client<typeof ModelService>;
  readonly watch: Client<typeof WatchService>;
}

/**
 * @param token undefined: the browser's cookie says who it is
 * @param onSignedOut called when the edge does not know the one or the other any more
 */
export function createClients(token: string | undefined, onSignedOut: () => void): Clients {
  const authorize: Interceptor = (next) => async (request) => {
    if (token !== undefined) request.header.set("authorization", `Bearer ${token}`);
    try {
      return await next(request);
    } catch (thrown) {
      if (ConnectError.from(thrown).code === Code.Unauthenticated) onSignedOut();
      throw thrown;
    }
  };
  const transport = createConnectTransport({
    baseUrl: location.origin,
    useBinaryFormat: true,
    interceptors: [authorize],
    defaultTimeoutMs: DEADLINE_MILLISECONDS,
  });
  return {
    transport,
    sessions: createClient(SessionService, transport),
    policy: createClient(PolicyService, transport),
    models: createClient(ModelService, transport),
    watch: createClient(WatchService, transport),
  };
}

/** An error for a person: a sentence, and what to do. */
export interface Trouble {
  readonly message: string;
  readonly advice: string;
  /** It takes a right that the person does not have: to try again changes nothing. */
  readonly isRefused?: boolean;
}

export function troubleOf(thrown: unknown): Trouble {
  const error = ConnectError.from(thrown);
  const [details] = error.findDetails(ErrorAdviceSchema);
  const isRefused = error.code === Code.PermissionDenied;
  if (details !== undefined) return { message: error.rawMessage, advice: details.advice, isRefused };
  if (thrown instanceof Error && !(thrown instanceof ConnectError) && !(thrown instanceof TypeError))
    return { message: thrown.message, advice: "" };
  if (error.code === Code.Unavailable || error.code === Code.Unknown)
    return { message: "The edge does not answer.", advice: "Check that the mesh is up (hlvm status), and try again." };
  return { message: error.rawMessage, advice: "", isRefused };
}
