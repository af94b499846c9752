/**
 * Whether a text was made by a machine rather than written: hexadecimal of 32 digits or more, digits among letters again and again, or
 * the 40 characters of an AWS secret key. Paths, names of programs and versions have few such changes.
 */
export function looksRandom(value: string): boolean {
  if (value.length < 16) return false;
  if (/^[0-9a-fA-F]{32,}$/.test(value)) return new Set(value).size > 4;
  const changes = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  if (changes >= (value.includes("/") ? 6 : 4)) return true;
  const cases = value.match(/[a-z](?=[A-Z])/g)?.length ?? 0;
  return /^[A-Za-z0-9/+]{40}$/.test(value) && /\d/.test(value) && cases >= 4;
}
