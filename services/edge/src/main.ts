import { DelegationSigner } from "@hlvm/identity/delegation-signer";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { runService } from "@hlvm/service/run-service";
import { LocalAuthenticator } from "./adapters/local-authenticator.ts";
import { readEdgeConfig } from "./config.ts";
import { connectBackends } from "./rpc/backends.ts";
import { startEdge } from "./start-edge.ts";

await runService("edge", async (log, environment) => {
  const config = readEdgeConfig(environment);
  const signingKey = readSigningKey(config.tokenSigningKey);
  return startEdge({
    host: config.host,
    port: config.port,
    connectionAgeSeconds: config.connectionAgeSeconds,
    authenticator: LocalAuthenticator.fromFile(config.localTokenFile),
    minter: new TokenMinter(signingKey),
    delegations: new DelegationSigner(signingKey),
    backends: connectBackends(config),
    log,
  });
});
