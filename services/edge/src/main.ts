import { DelegationSigner } from "@hlvm/identity/delegation-signer";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { runService } from "@hlvm/service/run-service";
import { AccessTokenAuthenticator } from "./adapters/access-token-authenticator.ts";
import { LocalAuthenticator } from "./adapters/local-authenticator.ts";
import { readEdgeConfig } from "./config.ts";
import { connectBackends } from "./rpc/backends.ts";
import { startEdge } from "./start-edge.ts";

await runService("edge", async (log, environment) => {
  const config = readEdgeConfig(environment);
  const backends = connectBackends(config);
  const signingKey = readSigningKey(config.tokenSigningKey);
  const minter = new TokenMinter(signingKey);
  const local = LocalAuthenticator.fromFile(config.localTokenFile);
  return startEdge({
    host: config.host,
    port: config.port,
    connectionAgeSeconds: config.connectionAgeSeconds,
    authenticator: new AccessTokenAuthenticator(backends.policy.transport, minter, local),
    webDirectory: config.webDirectory,
    minter,
    delegations: new DelegationSigner(signingKey),
    backends,
    log,
  });
});
