interface SecretForm {
  /** In words, as a person is told what was left out. */
  readonly kind: string;
  /** The group `before` is no part of the secret. */
  readonly pattern: RegExp;
  /** For a pattern that takes long: a text without this holds nothing of the form. */
  readonly sign?: string;
}

const SCHEME = "(?:[Bb]earer|BEARER|[Bb]asic|BASIC|[Tt]oken|TOKEN)";
/** Told from plain words ("basic authentication") by its digits and capitals. */
const TOKEN = String.raw`(?=[\w.~+/=-]*(?:[0-9=]|[a-z][A-Z]))[\w.~+/=-]{8,}`;

const NAME = "(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|(?<![a-z]|[a-z] )pass)";
const QUOTE = String.raw`\\?["']?`;
const IS = String.raw`(?:\s{0,9}[:=][=>]?\s{0,9}|\s{1,9}is\s{1,9})`;
const AUTHORIZATION = String.raw`\b(?:[Aa]uthorization|AUTHORIZATION)${QUOTE}${IS}${QUOTE}`;
/** `[secret left out]` and its like: what was replaced before is not replaced again. */
const NOT_REPLACED = String.raw`(?!\[[\w ]{1,40}\])`;
/** In escaped quotes, in double ones, in single ones, in none. */
const VALUE = [
  String.raw`(?<=\\["'])[^"'\\]{4,512}`,
  String.raw`(?<=(?<!\\)")(?:[^"\\]|\\.){4,512}(?=")`,
  String.raw`(?<=(?<!\\)')[^']{4,512}(?=')`,
  String.raw`[^\s"'&;|,]{4,}`,
].join("|");

/**
 * What is taken for a secret, most exact first: the forms that providers document for their keys, private keys, tokens in
 * headers and addresses, and what stands beside a name such as `password`. secretlint's rules look for the same; its
 * engine costs tens of megabytes and is made for files, so the list is kept here.
 *
 * Each pattern takes time in proportion to the text: what may be long either cannot fail, or begins only where a run of
 * its characters begins, or is bounded.
 */
export const secretForms: readonly SecretForm[] = [
  {
    kind: "private key",
    pattern: /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  // It looks for the two points first, once for a whole run, and then for where the token begins in it.
  {
    kind: "token",
    sign: "eyJ",
    pattern: /(?<![\w-])(?=[\w-]{11,}\.[\w-]{8,}\.)(?<before>(?:[\w-]*?-)??)eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  },
  { kind: "AWS key", pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b/g },
  { kind: "GitHub token", pattern: /\b(?:gh[pousr]_[0-9A-Za-z]{20,}|github_pat_\w{20,})/g },
  { kind: "GitLab token", pattern: /\bglpat-[\w-]{16,}/g },
  { kind: "Slack token", pattern: /\bxox[abeoprs]-[\w-]{10,}/g },
  { kind: "Google key", pattern: /\bAIza[\w-]{30,}/g },
  { kind: "npm token", pattern: /\bnpm_[0-9A-Za-z]{30,}/g },
  { kind: "Hugging Face token", pattern: /\bhf_[0-9A-Za-z]{30,}/g },
  { kind: "SendGrid key", pattern: /\bSG\.[\w-]{22}\.[\w-]{43}/g },
  { kind: "API key", pattern: /\b(?:sk|pk|rk)(?:-[\w-]{16,}|_(?:live|test)_[0-9A-Za-z]{16,}|_[0-9A-Za-z]{32,})/g },
  { kind: "password", pattern: /(?<before>:\/\/[^\s:@/]{0,256}:)[^\s@/]+(?=@)/g },
  { kind: "token", pattern: new RegExp(String.raw`(?<before>${AUTHORIZATION}${SCHEME} +)${NOT_REPLACED}[^\s"',;\\]{4,}`, "g") },
  { kind: "token", pattern: new RegExp(`(?<before>${AUTHORIZATION})${TOKEN}`, "g") },
  { kind: "token", pattern: new RegExp(String.raw`(?<before>\b${SCHEME}\s{1,9})${TOKEN}`, "g") },
  { kind: "secret", pattern: new RegExp(`(?<before>${NAME}${QUOTE}${IS}${QUOTE})${NOT_REPLACED}(?:${VALUE})`, "gi") },
];
