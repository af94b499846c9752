const MICROS_A_DOLLAR = 1_000_000n;

/** `$1.20`, `$0.0034`: cents at least, and further places as far as the sixth, rounded up: what costs something is not told as nothing. */
export function dollarsText(nanoDollars: bigint): string {
  const micros = (nanoDollars + 999n) / 1_000n;
  const places = String(micros % MICROS_A_DOLLAR)
    .padStart(6, "0")
    .replace(/0{1,4}$/, "");
  return `$${micros / MICROS_A_DOLLAR}.${places}`;
}
