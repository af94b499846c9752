import { isPlaceholder } from "./placeholder.ts";
import { isPrivateKey, PRIVATE_KEY } from "./private-key-form.ts";
import { MARK_SOURCE } from "./secret-mark.ts";
import { looksRandom } from "./looks-random.ts";
import { namedSecret } from "./named-secrets.ts";
import { spokenSecrets } from "./spoken-secrets.ts";
import type { SecretForm } from "./secret-form.ts";

/** Where a word begins, after an escape such as `\n` or `%20` too. */
const START = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2}))`;
/** The same where a key may have `-` in it, so that a run of such characters is looked at once. */
const RUN_START = String.raw`(?:(?<![\w-])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2}))`;
const SCHEME = "(?:[Bb]earer|BEARER|[Bb]asic|BASIC|[Tt]oken|TOKEN)";
const QUOTE = String.raw`\\?["']?`;
const IS = String.raw`[ \t]{0,9}(?:=>|:=|[:=])[ \t]{0,9}`;
const AUTHORIZATION = String.raw`\b(?:[Aa]uthorization|AUTHORIZATION)${QUOTE}${IS}${QUOTE}`;
const CREDENTIALS = String.raw`[^\s"'\x60,;\\]{4,}`;
/** With a digit: what has none is a word. */
const TOKEN = String.raw`(?=[\w.~+/=-]*[0-9])[\w.~+/=-]{8,}`;

const isNoPlaceholder = (match: RegExpExecArray): boolean => !isPlaceholder(match[0].slice(match.groups?.before?.length ?? 0));

/** Basic credentials are `name:password` in base64: whatever else follows the word is no secret. */
function isBasic(match: RegExpExecArray): boolean {
  return /^[\x20-\x7e\u00a0-\u00ff]*:/.test(Buffer.from(match[0].slice(match.groups!.before!.length), "base64").toString("latin1"));
}

/**
 * What is taken for a secret beside what secretlint's rules know (`provider-keys.ts`), the most exact first. A provider that
 * stands in both is here because its rule asks for an exact length and for what may stand around it, and a key that
 * something was glued to is as good as one alone.
 *
 * Each pattern takes time in proportion to the text: what may be long either cannot fail, or begins only where a run of
 * its characters begins, or is bounded. None but the private key's goes beyond a line.
 */
export const secretForms: readonly SecretForm[] = [
  { kind: "private key", sign: "PRIVATE KEY", pattern: PRIVATE_KEY, accept: ([found]) => isPrivateKey(found) },
  // It looks for the two points first, once for a whole run, and then for where the token begins in it.
  {
    kind: "JSON web token",
    sign: "eyJ",
    pattern: /(?<![\w-])(?=[\w-]{11,}\.[\w-]{8,}\.)(?<before>[\w-]*?)eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  },
  { kind: "AWS key", pattern: /(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}/g },
  { kind: "GitHub token", pattern: /(?:gh[pousr]_[0-9A-Za-z]{20,}|github_pat_\w{20,})/g },
  { kind: "GitLab token", pattern: /gl(?:pat|ptt|rt|cbt|soat|ft|imt|agent|oas|dt)-[\w-]{16,}/g, sign: "gl" },
  { kind: "Slack token", pattern: /xox[abceoprs](?:\.xox[bp])?-[\w-]{10,}|xapp-[0-9]-[\w-]{10,}/g, sign: "x" },
  { kind: "Slack webhook", pattern: /hooks\.slack\.com\/(?:services|workflows)\/[\w/]{16,}/g, sign: "hooks.slack.com" },
  { kind: "Google key", pattern: /AIza[\w-]{30,}/g, sign: "AIza" },
  { kind: "Google OAuth secret", pattern: /GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}/g },
  { kind: "HLVM token", pattern: /hlvm_(?:pat|svc|cli|ref)_[0-9a-f]{32,}/g, sign: "hlvm_" },
  { kind: "npm token", pattern: /npm_[0-9A-Za-z]{30,}/g, sign: "npm_" },
  { kind: "PyPI token", pattern: /pypi-AgE[\w-]{40,}/g, sign: "pypi-AgE" },
  { kind: "Hugging Face token", pattern: /hf_[0-9A-Za-z]{30,}/g, sign: "hf_" },
  { kind: "SendGrid key", pattern: /SG\.[\w-]{20,24}\.[\w-]{39,}/g, sign: "SG." },
  { kind: "Twilio key", pattern: new RegExp(`${START}SK[0-9a-f]{32}(?![0-9A-Za-z])`, "g"), sign: "SK" },
  { kind: "Azure storage key", pattern: /(?<before>(?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{40,}={0,2}/g, sign: "Key=" },
  { kind: "Azure signature", pattern: /(?<before>[?&]sig=)[A-Za-z0-9%+/]{40,}(?:%3[Dd]|=)?/g, sign: "sig=" },
  { kind: "Azure client secret", pattern: /[\w~.]{3}[0-9]Q~[\w~.-]{31,34}/g, sign: "Q~" },
  { kind: "DigitalOcean token", pattern: /do[opr]_v1_[0-9a-f]{64}/g, sign: "_v1_" },
  { kind: "Anthropic key", pattern: /sk-ant-[\w-]{16,}/g, sign: "sk-ant-" },
  { kind: "OpenAI key", pattern: /sk-(?:proj|svcacct|admin)-[\w-]{16,}/g, sign: "sk-" },
  { kind: "Stripe key", pattern: /[sr]k_(?:live|test)_[0-9A-Za-z]{16,}|whsec_[0-9A-Za-z+/]{24,}/g },
  { kind: "Shopify key", pattern: /shp(?:at|ca|pa|ss)_[0-9A-Za-z]{32,}/g, sign: "shp" },
  { kind: "Linear key", pattern: /lin_(?:api|oauth)_[0-9A-Za-z]{32,}/g, sign: "lin_" },
  { kind: "Notion token", pattern: /ntn_[0-9]{11}[A-Za-z0-9]{35}/g, sign: "ntn_" },
  { kind: "Databricks token", pattern: new RegExp(`${START}dapi[0-9a-f]{32}(?:-[0-9])?`, "g"), sign: "dapi" },
  { kind: "Docker token", pattern: /dckr_(?:pat|oat)_[\w-]{27,}/g, sign: "dckr_" },
  { kind: "Telegram token", pattern: new RegExp(`${START}[0-9]{8,10}:AA[\\w-]{33}`, "g"), sign: ":AA" },
  { kind: "Atlassian token", pattern: /AT(?:ATT|CTT)3x[\w=-]{40,}/g, sign: "TT3x" },
  { kind: "Discord webhook", pattern: /discord(?:app)?\.com\/api\/webhooks\/\d{16,20}\/[\w-]{40,}/g, sign: "/api/webhooks/" },
  { kind: "Mailgun key", pattern: new RegExp(`${START}key-[0-9a-f]{32}(?![0-9A-Za-z])`, "g"), sign: "key-" },
  { kind: "Facebook token", pattern: new RegExp(`${START}EAA[0-9A-Za-z]{40,}`, "g"), sign: "EAA" },
  { kind: "Brevo key", pattern: /xkeysib-[0-9a-f]{64}-[0-9A-Za-z]{16}/g, sign: "xkeysib-" },
  { kind: "RubyGems key", pattern: /rubygems_[0-9a-f]{48}/g, sign: "rubygems_" },
  { kind: "Postman key", pattern: /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/g, sign: "PMAK-" },
  { kind: "Square key", pattern: /sq0(?:csp|atp|idp)-[\w-]{22,}/g, sign: "sq0" },
  { kind: "New Relic key", pattern: /NRAK-[0-9A-Z]{27}/g, sign: "NRAK-" },
  { kind: "Sentry token", pattern: /sntry[su]_[\w+/=-]{40,}/g, sign: "sntry" },
  { kind: "Pulumi token", pattern: new RegExp(`${START}pul-[0-9a-f]{40}`, "g"), sign: "pul-" },
  { kind: "GCP key id", pattern: /(?<before>"private_key_id"\s{0,3}:\s{0,3}")[0-9a-f]{40}/g, sign: "private_key_id" },
  { kind: "age key", pattern: /AGE-SECRET-KEY-1[0-9A-Z]{40,}/g, sign: "AGE-SECRET-KEY-1" },
  { kind: "API key", pattern: new RegExp(`${RUN_START}(?:sk|pk|rk)(?:-(?=[\\w-]*[0-9])[\\w-]{16,}|_[0-9A-Za-z]{32,})`, "g") },
  { kind: "key", sign: "://", pattern: /(?<before>:\/\/)[0-9a-f]{32}(?=(?::[0-9a-f]{0,64})?@)/g },
  { kind: "password", sign: "://", pattern: /(?<before>:\/\/[^\s:@/]{0,256}:)[^\s@/]+(?=@)/g, accept: isNoPlaceholder },
  {
    kind: "credentials",
    pattern: new RegExp(`(?<before>${AUTHORIZATION}${SCHEME} +)(?!${MARK_SOURCE})${CREDENTIALS}`, "g"),
    accept: isNoPlaceholder,
  },
  { kind: "credentials", pattern: new RegExp(`(?<before>${AUTHORIZATION}(?:[A-Za-z][\\w-]{1,30}[ \\t]{1,3})?)${TOKEN}`, "g") },
  // What proves a request in a header or an address of any scheme: Digest, OAuth, AWS, Google.
  { kind: "signature", pattern: /(?<before>\b(?:response|oauth_signature|[Ss]ignature)=\\?["']?)[A-Za-z0-9%+/]{20,}(?:%3[Dd]|=){0,2}/g },
  { kind: "cookie", pattern: /(?<before>\b(?:[Ss]et-)?[Cc]ookie:[ \t]{1,3})[^=\s;,"']{1,64}=[^\s"']{8}[^\r\n"']{0,4000}/g, sign: "ookie:" },
  { kind: "credentials", pattern: /(?<before>\b(?:[Bb]asic|BASIC)[ \t]{1,9})[A-Za-z0-9+/]{8,}={0,2}/g, accept: isBasic },
  { kind: "token", pattern: new RegExp(String.raw`(?<before>\b(?:[Bb]earer|BEARER)[ \t]{1,9})${TOKEN}`, "g") },
  namedSecret,
  ...spokenSecrets,
  {
    kind: "key",
    pattern:
      /(?<before>(?<!\w)[A-Z0-9_]{0,64}(?:KEY|SECRET|TOKEN|SALT|PEPPER)(?:_[A-Z0-9_]{1,32})?["']?[ \t]{0,3}[=:][ \t]{0,3}["']?)(?<value>[\w+/=.~-]{16,512})/g,
    accept: ({ groups }) => looksRandom(groups!.value!),
  },
];
