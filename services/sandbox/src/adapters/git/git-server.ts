import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { publicLookup, requirePublicHost } from "./public-lookup.ts";

/** Between two pieces of an answer. */
const SILENCE_MILLISECONDS = 60_000;
const MAXIMUM_REDIRECTS = 3;
const REDIRECTS = new Set([301, 302, 307, 308]);
const ADVERTISEMENT = "/info/refs?service=git-upload-pack";
/** Servers that also serve pages tell git by this. */
const USER_AGENT = "git/2 (hlvm)";

export interface GitServerOptions {
  /** Without a name and password. */
  readonly url: URL;
  /** Empty where there is none. It goes to the repository's own origin and to no other. */
  readonly authorization: string;
  readonly privateHosts: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** A repository on an HTTPS server. No program is run for it, and nothing but HTTPS is spoken. */
export class GitServer {
  readonly #options: GitServerOptions;
  #base: URL;

  constructor(options: GitServerOptions) {
    this.#options = options;
    this.#base = options.url;
  }

  /** What the server says of itself; where it is elsewhere, the next calls go there. @throws HlvmError */
  async advertisement(): Promise<IncomingMessage> {
    for (let redirects = 0; ; redirects++) {
      const response = await this.#send("GET", ADVERTISEMENT);
      if (!REDIRECTS.has(response.statusCode!)) return this.#requireGit(response, "advertisement");
      response.destroy();
      if (redirects === MAXIMUM_REDIRECTS) throw this.#refused("it redirects again and again");
      this.#base = this.#redirected(response.headers.location ?? "");
    }
  }

  async command(body: string): Promise<IncomingMessage> {
    return this.#requireGit(await this.#send("POST", "/git-upload-pack", body), "result");
  }

  #redirected(location: string): URL {
    const given = new URL(this.#base.href.replace(/\/$/, "") + ADVERTISEMENT);
    const next = URL.canParse(location, given) ? new URL(location, given) : undefined;
    if (next === undefined || next.protocol !== "https:" || !next.href.endsWith(ADVERTISEMENT))
      throw this.#refused("it redirects to something that is no repository");
    const base = new URL(next.href.slice(0, -ADVERTISEMENT.length));
    base.username = "";
    base.password = "";
    return base;
  }

  #send(method: "GET" | "POST", path: string, body = ""): Promise<IncomingMessage> {
    const { authorization, privateHosts, signal, url } = this.#options;
    requirePublicHost(this.#base.hostname, privateHosts);
    const isOwnOrigin = this.#base.origin === url.origin;
    const answered = Promise.withResolvers<IncomingMessage>();
    const sent = request(this.#base.href.replace(/\/$/, "") + path, {
      method,
      signal,
      agent: false,
      timeout: SILENCE_MILLISECONDS,
      lookup: publicLookup(privateHosts),
      headers: {
        "user-agent": USER_AGENT,
        "git-protocol": "version=2",
        ...(isOwnOrigin && authorization !== "" ? { authorization } : {}),
        ...(method === "POST"
          ? { "content-type": "application/x-git-upload-pack-request", "content-length": Buffer.byteLength(body) }
          : {}),
      },
    });
    sent.on("response", answered.resolve);
    sent.on("timeout", () => sent.destroy(new Error(`it was silent for ${SILENCE_MILLISECONDS / 1_000} s`)));
    sent.on("error", (cause) =>
      answered.reject(cause instanceof HlvmError || signal.aborted ? cause : this.#refused(messageOf(cause), cause)),
    );
    sent.end(body);
    return answered.promise;
  }

  #requireGit(response: IncomingMessage, kind: "advertisement" | "result"): IncomingMessage {
    const { statusCode, headers } = response;
    if (statusCode === 200 && headers["content-type"] === `application/x-git-upload-pack-${kind}`) return response;
    response.destroy();
    if (statusCode === 401 || statusCode === 403 || statusCode === 404)
      throw new HlvmError({
        code: statusCode === 404 ? "not_found" : "permission_denied",
        reason: statusCode === 404 ? "repository_not_found" : "repository_refused",
        message: `${this.#base.host} has no repository ${this.#base.pathname} for this caller (HTTP ${statusCode}).`,
        advice:
          "Check the address; a private repository needs a name and token in it (https://NAME:TOKEN@HOST/…), or send a clone of yours with --upload.",
      });
    throw this.#refused(`it answered with HTTP ${statusCode} and not as a git server`);
  }

  #refused(why: string, cause?: unknown): HlvmError {
    return repositoryUnreachable(this.#base, why, cause);
  }
}

export function repositoryUnreachable(url: URL, why: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "repository_unreachable",
    message: `The repository ${url.host}${url.pathname} cannot be fetched: ${why}.`,
    advice: "Check the address, or clone it on your machine and send it with --upload.",
    cause,
  });
}
