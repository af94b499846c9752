/** What a setting's value is read with where it is the address of a server. @throws Error whose message completes "VARIABLE …" */
export function httpUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return value;
  throw new Error(`must be a URL that begins with http:// or https://, not "${value}"`);
}
