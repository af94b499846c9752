interface Rule {
  readonly kind: string;
  readonly pattern: RegExp;
}

const VALUE = String.raw`(?:"[^"]{4,}"|'[^']{4,}'|[^\s"',;]{4,})`;

/** What is cut out, most exact first. Groups named `before` and `after` stay. */
const RULES: readonly Rule[] = [
  { kind: "private key", pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g },
  { kind: "token", pattern: /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g },
  { kind: "AWS key", pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g },
  { kind: "GitHub token", pattern: /\b(?:gh[pousr]_[0-9A-Za-z]{20,}|github_pat_\w{20,})/g },
  { kind: "GitLab token", pattern: /\bglpat-[\w-]{16,}/g },
  { kind: "Slack token", pattern: /\bxox[abeprs]-[\w-]{10,}/g },
  { kind: "Google key", pattern: /\bAIza[\w-]{30,}/g },
  { kind: "npm token", pattern: /\bnpm_[0-9A-Za-z]{30,}/g },
  { kind: "API key", pattern: /\b(?:sk|pk|rk)[-_][\w-]{16,}/g },
  { kind: "password", pattern: /(?<before>\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s:@/]{0,256}:)[^\s@/]{1,256}(?<after>@)/gi },
  { kind: "token", pattern: /(?<before>\bbearer\s+)[\w.~+/=-]{12,}/gi },
  {
    kind: "secret",
    pattern: new RegExp(
      String.raw`(?<before>\b[\w-]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)\b["']?(?:\s*[:=]\s*|\s+is\s+))(?!\[)${VALUE}`,
      "gi",
    ),
  },
];

/** The text with every secret that a rule knows replaced by what kind of secret it was. */
export function redactSecrets(text: string): string {
  return RULES.reduce(
    (redacted, { kind, pattern }) =>
      redacted.replace(pattern, (...match: unknown[]) => {
        const groups = match.at(-1) as { before?: string; after?: string } | string;
        const { before = "", after = "" } = typeof groups === "string" ? {} : groups;
        return `${before}[${kind} left out]${after}`;
      }),
    text,
  );
}
