/** `$TOKEN`, `${{ secrets.X }}`, `<your-key>`, `{{password}}`, `%PASS%`, `****`, `xxxx`, `...`: where a secret will stand, and none does. */
const PLACEHOLDER = /^(?:\$[\w({]|\$\{|<[^>]*>|\{\{?|%[A-Z_]+%|[*.…x#_-]+$|\[[\w ]*\]$|your[-_ ]|(?:process|import\.meta|os)\.env)/i;

export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value);
}
