import { draftView, firstColumns, type DraftView } from "./draft-view.ts";
import { continueRow } from "./open-row.ts";
import { paint } from "./paint.ts";
import { displayWidth } from "./wrap-pieces.ts";

const PROMPT = "› ";
const ERASE_BELOW = "\u001b[J";
const ERASE_LINE = "\r\u001b[2K";
const ERASE_REST = "\u001b[K";
const UP = "\u001b[A";

export interface RegionTerminal {
  readonly columns: number;
  readonly colour: boolean;
  write(text: string): unknown;
  /** @returns ends it */
  onResize(redraw: () => void): () => void;
}

/** What stands below a terminal's output. */
export interface RegionContent {
  readonly before: string;
  readonly after: string;
  /** Where nothing is typed. */
  readonly placeholder: string;
  /** The row below. */
  readonly footer: string;
}

/**
 * Two rows below the output of a terminal, which is written above them: the text that a person is typing, the cursor in it, and
 * a row that tells what goes on. Nothing of it is left behind, and nothing of the output is lost.
 */
export class LiveRegion {
  readonly #terminal: RegionTerminal;
  #content: RegionContent = { before: "", after: "", placeholder: "", footer: "" };
  /** Of the output, where its line has not ended. */
  #row = "";
  /** Of the terminal when the two rows were drawn; undefined while they are not. */
  #drawnColumns: number | undefined;

  constructor(terminal: RegionTerminal) {
    this.#terminal = terminal;
  }

  get isRowOpen(): boolean {
    return this.#row !== "";
  }

  show(content: RegionContent): void {
    const isFooterOnly =
      this.#drawnColumns === this.#terminal.columns && content.before === this.#content.before && content.after === this.#content.after;
    this.#content = content;
    if (isFooterOnly) this.#terminal.write(`\r\n${this.#footer()}${ERASE_REST}${UP}\r${this.#typed().before}`);
    else this.#terminal.write(this.#erase() + this.#draw());
  }

  hide(): void {
    this.#terminal.write(this.#erase());
  }

  /** Output, which need not end its line. @param write where it goes: it may be another file of the same terminal */
  print(output: string, write: (text: string) => unknown): void {
    this.#terminal.write(this.#erase());
    const { text, row } = continueRow(this.#row, output, this.#terminal.columns);
    this.#row = row;
    write(text);
    this.#terminal.write(this.#draw());
  }

  /** A whole line, painted. */
  printLine(painted: string): void {
    this.#terminal.write(`${this.#erase()}${painted}\n${this.#draw()}`);
  }

  /** Leaves the cursor where the output ends. */
  #erase(): string {
    if (this.#drawnColumns === undefined) return "";
    // Where the open row went when the size changed is not known, so that what comes begins another one. Some terminals wrap
    // the row of the cursor then and others do not: rather is a piece of it left behind than output erased.
    if (this.#drawnColumns !== this.#terminal.columns) this.#row = "";
    this.#drawnColumns = undefined;
    const erased = `\r${ERASE_BELOW}${ERASE_LINE}`;
    return this.#row === "" ? erased : `${erased}${UP}\r${this.#row}`;
  }

  #draw(): string {
    const { before, rest } = this.#typed();
    this.#drawnColumns = this.#terminal.columns;
    // The terminal finds the cursor's place by itself, whatever it thinks of a character's width.
    return `${this.#row === "" ? "" : "\r\n"}${before}${rest}\r\n${this.#footer()}${UP}\r${before}`;
  }

  #view(): DraftView {
    return draftView(this.#content.before, this.#content.after, Math.max(this.#terminal.columns - displayWidth(PROMPT) - 1, 8));
  }

  #typed(): { before: string; rest: string } {
    const { before, after } = this.#view();
    const { placeholder } = this.#content;
    const isEmpty = before === "" && after === "";
    const hint = firstColumns(placeholder, this.#terminal.columns - displayWidth(PROMPT) - 1);
    const rest = isEmpty ? paint([{ text: hint, tone: "dim" }], this.#terminal.colour) : after;
    return { before: PROMPT + before, rest };
  }

  #footer(): string {
    const text = firstColumns(this.#content.footer, this.#terminal.columns - 1);
    return paint([{ text, tone: "dim" }], this.#terminal.colour);
  }
}
