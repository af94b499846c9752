import * as openid from "openid-client";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Identified, IdentityProvider, LoginQuestion } from "../domain/identity-provider.ts";
import { identifiedBy } from "../domain/read-claims.ts";

const DEADLINE_SECONDS = 5;
const METADATA_MILLISECONDS = 10 * 60 * 1_000;
const ANSWERS_LATE: ReadonlySet<string> = new Set(["OAUTH_TIMEOUT", "OAUTH_ABORT"]);

export interface OpenidSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Of the edge, as browsers know it. */
  readonly publicUrl: URL;
}

interface KnownMetadata {
  readonly metadata: Promise<openid.ServerMetadata>;
  readonly until: number;
}

/** An identity provider that speaks OpenID Connect. */
export class OpenidProvider implements IdentityProvider {
  readonly #settings: OpenidSettings;
  readonly #redirectUri: string;
  #known: KnownMetadata | undefined;

  constructor(settings: OpenidSettings) {
    this.#settings = settings;
    this.#redirectUri = new URL("/auth/callback", settings.publicUrl).href;
  }

  async loginUrl({ state, nonce, codeVerifier }: LoginQuestion): Promise<URL> {
    const config = await this.#config();
    const offered = config.serverMetadata().scopes_supported ?? [];
    return openid.buildAuthorizationUrl(config, {
      redirect_uri: this.#redirectUri,
      scope: ["openid", "profile", "email", ...(offered.includes("groups") ? ["groups"] : [])].join(" "),
      state,
      nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: "S256",
    });
  }

  async identify(query: string, { state, nonce, codeVerifier }: LoginQuestion): Promise<Identified> {
    const config = await this.#config();
    const answered = new URL(this.#redirectUri);
    answered.search = query;
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier, idTokenExpected: true };
      const tokens = await openid.authorizationCodeGrant(config, answered, checks);
      const claims = tokens.claims()!;
      // Many providers put what is long into their answer about the user, and not into the token.
      const isComplete = claims.groups !== undefined || config.serverMetadata().userinfo_endpoint === undefined;
      const more = isComplete ? {} : await openid.fetchUserInfo(config, tokens.access_token, claims.sub);
      return identifiedBy({ ...more, ...claims });
    } catch (thrown) {
      throw refusal(thrown, this.#settings.issuer);
    }
  }

  async logoutUrl(): Promise<URL | undefined> {
    const config = await this.#config().catch(() => undefined);
    if (config?.serverMetadata().end_session_endpoint === undefined) return undefined;
    return openid.buildEndSessionUrl(config);
  }

  /**
   * A new one each time: with it the provider's keys are read anew, and a key that was rotated a moment ago is known. Signatures
   * are checked although the token comes from the provider itself, over TLS.
   */
  async #config(): Promise<openid.Configuration> {
    const { clientId, clientSecret } = this.#settings;
    const config = new openid.Configuration(await this.#metadata(), clientId, clientSecret);
    config.timeout = DEADLINE_SECONDS;
    if (this.#isOnThisMachine()) openid.allowInsecureRequests(config);
    openid.enableNonRepudiationChecks(config);
    return config;
  }

  #metadata(): Promise<openid.ServerMetadata> {
    if (this.#known !== undefined && this.#known.until > performance.now()) return this.#known.metadata;
    const metadata = this.#discover();
    this.#known = { metadata, until: performance.now() + METADATA_MILLISECONDS };
    metadata.catch(() => (this.#known = undefined));
    return metadata;
  }

  async #discover(): Promise<openid.ServerMetadata> {
    const { issuer, clientId, clientSecret } = this.#settings;
    try {
      const execute = this.#isOnThisMachine() ? [openid.allowInsecureRequests] : [];
      const options = { execute, timeout: DEADLINE_SECONDS };
      return (await openid.discovery(new URL(issuer), clientId, clientSecret, undefined, options)).serverMetadata();
    } catch (cause) {
      throw unreachable(issuer, cause);
    }
  }

  /** Only there may it come without TLS, as in a demonstration. */
  #isOnThisMachine(): boolean {
    return /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:|\/|$)/.test(this.#settings.issuer);
  }
}

function refusal(thrown: unknown, issuer: string): HlvmError {
  if (thrown instanceof HlvmError) return thrown;
  const { code = "", error = "" } = thrown as { readonly code?: string; readonly error?: string };
  if (ANSWERS_LATE.has(code) || (thrown instanceof TypeError && code === "") || error === "server_error")
    return unreachable(issuer, thrown);
  if (error !== "")
    return new HlvmError({
      code: "permission_denied",
      reason: "login_refused",
      message: `The identity provider did not log you in (${error.replaceAll(/[^\w-]/g, "").slice(0, 60)}).`,
      advice: "Log in again; where it happens again, ask who runs the identity provider whether you may use HLVM.",
      cause: thrown,
    });
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED")
    return new HlvmError({
      code: "failed_precondition",
      reason: "clocks_differ",
      message: "The identity provider's answer is over already, by the clock of HLVM's server.",
      advice: "Set the clocks of both machines (`timedatectl status` says whether one is synchronized).",
      cause: thrown,
    });
  return new HlvmError({
    code: "permission_denied",
    reason: "provider_answer_refused",
    message: `What came as the identity provider's answer was not accepted: ${(thrown as Error).message}.`,
    advice: "Log in again; where it happens again, compare issuer, client and keys of the provider with the edge's settings.",
    cause: thrown,
  });
}

function unreachable(issuer: string, cause: unknown): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "provider_unreachable",
    message: `The identity provider ${issuer} did not answer within ${DEADLINE_SECONDS} s, or not as one does.`,
    advice: "Try again in a moment. Who is logged in stays so; HLVM_OIDC_ISSUER of the edge says where the provider is.",
    cause,
  });
}
