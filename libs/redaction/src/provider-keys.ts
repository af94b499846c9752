import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import type { SecretLintRuleContext, SecretLintRuleReportDescriptor, SecretLintSourceCode } from "@secretlint/types";
import type { FoundSecret } from "./find-secrets.ts";

/**
 * secretlint's rules by what we call that which they find. Those of the preset that are missing here are not used: `gcp`
 * reads files, `filter-comments` lets the text itself switch the rules off, and what `privatekey`, `basicauth` and
 * `database-connection-string` find is found by our own forms, cut at the right place and in pieces too.
 */
const KINDS: Readonly<Record<string, string>> = {
  "1password": "1Password token",
  anthropic: "Anthropic key",
  aws: "AWS secret key",
  cloudflare: "Cloudflare token",
  databricks: "Databricks token",
  docker: "Docker token",
  figma: "Figma token",
  github: "GitHub token",
  gitlab: "GitLab token",
  grafana: "Grafana token",
  groq: "Groq key",
  "hashicorp-vault": "Vault token",
  huggingface: "Hugging Face token",
  linear: "Linear key",
  notion: "Notion token",
  npm: "npm token",
  openai: "OpenAI key",
  sendgrid: "SendGrid key",
  shopify: "Shopify key",
  slack: "Slack token",
  stripe: "Stripe key",
  tailscale: "Tailscale key",
  vercel: "Vercel token",
};
const PREFIX = "@secretlint/secretlint-rule-";
/** The shortest secret that any of the rules knows has more: most lines of a conversation need no look at all. */
const MAY_HOLD_KEY = /[\w+/=.~-]{16}/;

let text = "";
let found: FoundSecret[] = [];

const scanners = rules.flatMap((rule) => {
  const kind = KINDS[rule.meta.id.slice(PREFIX.length)];
  if (kind === undefined) return [];
  const context: SecretLintRuleContext = {
    sharedOptions: {},
    createTranslator: () => (messageId, data) => ({ message: "", messageId: String(messageId), data: data ?? {} }),
    ignore: () => undefined,
    report: (reported) => note(kind, reported),
  };
  return [rule.create(context, {})];
});

/** A rule's range may begin before the secret, at its name: what the message is about is the secret itself. */
function note(kind: string, { range, message }: SecretLintRuleReportDescriptor): void {
  const secret = Object.values(message.data ?? {}).find((value) => typeof value === "string" && value !== "") as string | undefined;
  if (secret === undefined) return;
  const start = text.indexOf(secret, range[0]);
  // Across lines a rule would find in a whole text what it cannot find in its pieces.
  if (start < 0 || /[\r\n]/.test(text.slice(range[0], start))) return;
  found.push({ kind, start, end: start + secret.length });
}

/** The keys and tokens in a text that secretlint's rules know, in the order of the rules. */
export function findProviderKeys(whole: string): FoundSecret[] {
  if (!MAY_HOLD_KEY.test(whole)) return [];
  // Of a string in JSON or a program: the letter of an escape is no letter before a key. The length stays.
  text = whole.includes("\\") ? whole.replace(/\\[nrtbf]/g, "  ") : whole;
  found = [];
  const source = {
    content: text,
    filePath: undefined,
    ext: "",
    contentType: "text",
  } as Partial<SecretLintSourceCode> as SecretLintSourceCode;
  for (const scanner of scanners) void scanner.file?.(source);
  text = "";
  return found;
}
