import xterm from "@xterm/headless";

/** What a terminal of this size shows of what was written to it: the last rows, long lines wrapped. */
export async function visibleScreen(written: string, rows: number, columns: number): Promise<string> {
  const terminal = new xterm.Terminal({ rows, cols: columns, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(written, resolve));
  const { active } = terminal.buffer;
  const shown = Array.from({ length: rows }, (_, row) => active.getLine(active.baseY + row)!.translateToString(true));
  return shown.join("\n");
}
