import { DelegationSigner } from "@hlvm/identity/delegation-signer";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { runService } from "@hlvm/service/run-service";
import { AccessTokenAuthenticator } from "./adapters/access-token-authenticator.ts";
import { LocalAuthenticator } from "./adapters/local-authenticator.ts";
import { OpenidProvider } from "./adapters/openid-provider.ts";
import { PolicyLogins } from "./adapters/policy-logins.ts";
import { readEdgeConfig } from "./config.ts";
import { PageLogins } from "./domain/page-logins.ts";
import type { Admission } from "./http/admission.ts";
import { LocalAdmission } from "./http/local-admission.ts";
import { NobodyElse, TeamAdmission } from "./http/team-admission.ts";
import { connectBackends } from "./rpc/backends.ts";
import { startEdge } from "./start-edge.ts";

await runService("edge", async (log, environment) => {
  const config = readEdgeConfig(environment);
  const backends = connectBackends(config);
  const signingKey = readSigningKey(config.tokenSigningKey);
  const minter = new TokenMinter(signingKey);
  const local = LocalAuthenticator.fromFile(config.localTokenFile);
  const { transport } = backends.policy;
  const admission = (): Admission => {
    if (config.team === undefined) return new LocalAdmission(new PageLogins(new AccessTokenAuthenticator(transport, minter, local)));
    const logins = new PolicyLogins(transport, minter, new AccessTokenAuthenticator(transport, minter, new NobodyElse()));
    const { organization, publicUrl } = config.team;
    const provider = new OpenidProvider(config.team);
    return new TeamAdmission({ logins, provider, organization, publicUrl, log, operator: local, authenticator: logins });
  };
  return startEdge({
    host: config.host,
    port: config.port,
    connectionAgeSeconds: config.connectionAgeSeconds,
    admission: admission(),
    webDirectory: config.webDirectory,
    minter,
    delegations: new DelegationSigner(signingKey),
    backends,
    log,
  });
});
