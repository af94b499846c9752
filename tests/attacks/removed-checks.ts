/** Checks of the doors, each with what is left without it. */
export interface RemovedCheck {
  /** What is not looked at any more. */
  readonly check: string;
  /** The attack of the group `doors` that gets through then. */
  readonly attack: string;
  readonly edits: readonly Edit[];
}

export interface Edit {
  /** From the root of the repository. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly from: string;
  readonly to: string;
}

const TEAM_ADMISSION = "services/edge/src/http/team-admission.ts";
const BROWSER_LOGIN = "services/edge/src/http/browser-login.ts";
const PROVIDER = "services/edge/src/adapters/openid-provider.ts";
const LOGIN_STORE = "services/policy/src/adapters/postgres/postgres-login-store.ts";
const DEVICE_STORE = "services/policy/src/adapters/postgres/postgres-device-store.ts";
const CLAIMS = "services/edge/src/domain/read-claims.ts";
const COOKIES = "services/edge/src/http/cookies.ts";
const INTERCEPTOR = "services/edge/src/rpc/authenticated-interceptor.ts";
const ANSWER = "services/policy/src/domain/approval/answer-approval.ts";
const FOREIGN_HOST = "a foreign Host on every path";
const OTHER_SITES = "requests of other sites, and forms, with the cookie";
const FORGED_TOKENS = "forged ID tokens";
const REPLAYS = "code, state and nonce replayed, and an issuer mixed up";
const COOKIES_OF_OTHERS = "cookies that others can read or set";
const STOLEN = "stolen codes and refresh tokens";
const GUESSED = "device codes that are guessed";
const WIDENED = "scopes that are widened";

const one = (check: string, attack: string, file: string, [from, to]: readonly [string, string]): RemovedCheck => ({
  check,
  attack,
  edits: [{ file, from, to }],
});

export const removedChecks: readonly RemovedCheck[] = [
  one("the Host header", FOREIGN_HOST, TEAM_ADMISSION, [
    "if (host === this.#parts.publicUrl.host) return;",
    "if (host !== undefined) return;",
  ]),
  one("from which site a request comes", OTHER_SITES, TEAM_ADMISSION, ["if (isOurs && method", "if (method"]),
  one("what type a request has", OTHER_SITES, TEAM_ADMISSION, [' && types.test(headers["content-type"] ?? "")', ""]),
  one("that programs come with no cookie", OTHER_SITES, TEAM_ADMISSION, [' || !pathOf(request).startsWith("/hlvm.")', ""]),
  one("that a header counts alone", "an Authorization header beside a cookie", TEAM_ADMISSION, [
    "if (authorization !== undefined) {",
    "if (authorization !== undefined && cookieOf(request, SESSION_COOKIE) === undefined) {",
  ]),
  one("that no page frames ours", "clickjacking", "services/edge/src/http/page-headers.ts", [`"frame-ancestors 'none'",`, ""]),
  {
    check: "roles, at the edge and in policy",
    attack: "roles by forged headers and bodies",
    edits: [
      { file: "services/edge/src/domain/demand-role.ts", from: "if (needed === undefined ||", to: "if (needed !== null ||" },
      {
        file: "services/policy/src/domain/authority/cedar-policies.ts",
        from: `permit (principal in HLVM::Role::"admin", action, resource is HLVM::Organization)`,
        to: "permit (principal, action, resource is HLVM::Organization)",
      },
    ],
  },
  one("which browser began a login", "login CSRF: the callback of a stranger", LOGIN_STORE, [
    "AND browser_sha256 = decode($2, 'hex')",
    "AND $2::text IS NOT NULL",
  ]),
  one("that each login has a credential of its own", "a session that was fixed before the login", BROWSER_LOGIN, [
    "const secret = newSecret();",
    "const secret = cookieOf(request, SESSION_COOKIE) ?? newSecret();",
  ]),
  one("which issuer answers", REPLAYS, PROVIDER, [
    "answered.search = query;",
    'answered.search = query;\n    answered.searchParams.delete("iss");',
  ]),
  one("who signed an ID token", FORGED_TOKENS, PROVIDER, ["openid.enableNonRepudiationChecks(config);", ""]),
  one("whether the list of groups is whole", FORGED_TOKENS, CLAIMS, [`"groups" in elsewhere)`, `"x" in elsewhere)`]),
  one("whether groups are names", FORGED_TOKENS, CLAIMS, [
    `if (!names.every((name) => typeof name === "string" &&`,
    `if (!names.every((name) => typeof name === "object" ||`,
  ]),
  {
    check: "where a login leads",
    attack: "redirects that lead away",
    edits: [
      {
        file: "services/edge/src/domain/return-path.ts",
        from: String.raw`if (!/^\/(?![/\\])/.test(wanted) || /[\p{Cc}\\]/u.test(wanted)) return "/";`,
        to: "",
      },
      {
        file: "services/edge/src/domain/return-path.ts",
        from: "if (resolved.origin !== publicUrl.origin ||",
        to: "if (resolved.origin !== publicUrl.origin) return wanted;\n  if (",
      },
    ],
  },
  one("that scripts cannot read a cookie", COOKIES_OF_OTHERS, COOKIES, [" HttpOnly;", ""]),
  one("that one cookie counts and not the first of two", COOKIES_OF_OTHERS, COOKIES, [
    "return values.length === 1 && FORM.test(value!) ? value : undefined;",
    "return values.findLast((each) => FORM.test(each)) ?? value;",
  ]),
  one("who asked for a code", STOLEN, LOGIN_STORE, ["return code.code_challenge === codeChallenge ?", "return codeChallenge !== null ?"]),
  one("that a code is good once", STOLEN, LOGIN_STORE, ["isOver(code) || code.swapped_at !== null ||", "isOver(code) ||"]),
  one("that a refresh token is good once", STOLEN, LOGIN_STORE, [
    "if (refresh.swapped_at !== null) {",
    "if (refresh.swapped_at === undefined) {",
  ]),
  one("that a refresh token that comes twice ends the login", STOLEN, LOGIN_STORE, [
    "await queries.query(REVOKE_FAMILY, [refresh.family_id]);",
    "",
  ]),
  one("how many codes somebody types", GUESSED, DEVICE_STORE, ['if (wrong!.is_full) return "too_many";', ""]),
  one("how often a device asks", GUESSED, DEVICE_STORE, ['if (asked.is_early) return "early";', ""]),
  one("which scopes a token has", WIDENED, "services/edge/src/domain/demand-scope.ts", [
    "if (needed.some((scope) => scopes.includes(scope))) return;",
    "if (needed.length >= 0) return;",
  ]),
  one("that tokens do not act in person", WIDENED, "services/edge/src/domain/demand-scope.ts", [
    'if (needed === "person")',
    'if (needed === "person") return;\n  if (needed === undefined)',
  ]),
  one("which scopes an owner could use", WIDENED, "services/policy/src/domain/identity/change-tokens.ts", [
    "if (unusable !== undefined) throw",
    "if (unusable === null) throw",
  ]),
  one("that queries stay out of logs", "secrets in logs", "services/edge/src/http/http-endpoints.ts", [
    `return url?.split("?", 1)[0];`,
    "return url;",
  ]),
  one("who may still follow a stream", "the open stream of a suspended member", INTERCEPTOR, ["refused.abort(cause);", "void refused;"]),
  one("four eyes", "an approver who is the requester, where two are required", ANSWER, [
    "!mayAnswer(principal, answeredBy(principal, asked), fourEyes)",
    "!mayAnswer(principal, answeredBy(principal, asked), new Set())",
  ]),
  one(
    "which scopes a service account gets",
    "answers of service accounts and of tokens for something else",
    "services/policy/src/domain/identity/change-tokens.ts",
    ["if (roles !== undefined) return { id: accountId(name), roles };", 'return { id: accountId(name), roles: roles ?? ["approver"] };'],
  ),
  one("which preview an answer is to", "a file that changes between look and click", ANSWER, ["shown !== previewHash(asked)", "false"]),
  one("that a file is as it was shown", "a file that changes between look and click", "services/sandbox/runner/replace-file.ts", [
    ", writes.expectedSha256);",
    ", undefined);",
  ]),
  one(
    "whose session it is",
    "ids of another organization on every public method",
    "services/orchestrator/src/adapters/postgres/postgres-session-store.ts",
    ["FROM session WHERE organization = $1 AND session_id = $2`,", "FROM session WHERE $1::text IS NOT NULL AND session_id = $2`,"],
  ),
  one(
    "whose token it is",
    "ids of another organization on every public method",
    "services/policy/src/adapters/postgres/postgres-token-store.ts",
    ['const IS_THEIRS = "organization = $1 AND', 'const IS_THEIRS = "$1::text IS NOT NULL AND'],
  ),
];
