import { EventEmitter } from "node:events";
import xterm from "@xterm/headless";
import type { Output } from "../terminal/screen.ts";

/** A terminal that draws what is written to it, as one with a window does. */
export class TestTerminal extends EventEmitter implements Output {
  readonly isTTY = true;
  /** Everything that was written. */
  bytes = "";
  readonly #terminal: InstanceType<typeof xterm.Terminal>;

  constructor(columns: number, rows: number) {
    super();
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, convertEol: true, allowProposedApi: true });
  }

  get columns(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  write(text: string): void {
    this.bytes += text;
    this.#terminal.write(text);
  }

  /** As when somebody pulls at the window's corner. */
  async resize(columns: number): Promise<void> {
    await this.#drawn();
    this.#terminal.resize(columns, this.rows);
    this.emit("resize");
  }

  /** All lines, those that were scrolled away too; a line that the terminal wrapped is one. */
  async lines(): Promise<string[]> {
    await this.#drawn();
    const buffer = this.#terminal.buffer.active;
    const lines: string[] = [];
    for (let at = 0; at < buffer.length; at += 1) {
      const row = buffer.getLine(at)!;
      const isWrapped = buffer.getLine(at + 1)?.isWrapped === true;
      const text = row.translateToString(!isWrapped);
      if (row.isWrapped) lines[lines.length - 1] += text;
      else lines.push(text);
    }
    return lines.join("\n").trimEnd().split("\n");
  }

  /** What is on the cursor's row, up to the cursor. */
  async beforeCursor(): Promise<string> {
    await this.#drawn();
    const { active } = this.#terminal.buffer;
    return active.getLine(active.baseY + active.cursorY)!.translateToString(false, 0, active.cursorX);
  }

  #drawn(): Promise<void> {
    return new Promise((resolve) => this.#terminal.write("", resolve));
  }
}
