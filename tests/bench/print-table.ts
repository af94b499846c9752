/** Prints rows below a title, columns aligned; numbers are rounded to one decimal. */
export function printTable(title: string, rows: readonly Readonly<Record<string, string | number>>[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const texts = rows.map((row) => columns.map((column) => textOf(row[column]!)));
  const widths = columns.map((column, index) => Math.max(column.length, ...texts.map((row) => row[index]!.length)));
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, index) => cell.padEnd(widths[index]!)).join(" | ")} |`;
  console.log(`\n${title}\n`);
  console.log(line(columns));
  console.log(`|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`);
  for (const row of texts) console.log(line(row));
}

function textOf(value: string | number): string {
  return typeof value === "number" ? (Number.isInteger(value) ? String(value) : value.toFixed(1)) : value;
}
