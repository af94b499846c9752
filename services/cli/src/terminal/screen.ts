import { LiveRegion, type RegionContent, type RegionTerminal } from "./live-region.ts";
import { paint, type Piece, type Tone } from "./paint.ts";
import { printable, printableLine } from "./printable.ts";
import { PromptRow } from "./prompt-row.ts";

const ERASE_LINE = "\r\u001b[2K";
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MILLISECONDS = 100;
const STATUS_CHARACTERS = 72;
/** Of a terminal that does not tell its size. */
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
  on?(event: "resize", listener: () => void): unknown;
  off?(event: "resize", listener: () => void): unknown;
}

/** Where the answer to a question is typed. */
export interface DraftRow {
  show(content: RegionContent): void;
  /** The text is typed; it stays where it stood. */
  end(text: string): void;
}

/**
 * The two outputs of a command. The answer goes to standard output, everything about it to standard error. Whatever reaches
 * a terminal is made printable here, so no caller can forget it.
 */
export class Screen {
  readonly #answers: Output;
  readonly #notes: Output;
  /** Whether notes are in colour. */
  readonly colour: boolean;
  #lineOpen = false;
  #status = "";
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;
  /** What was to be written while a question stood there. */
  #waiting: (() => void)[] | undefined;
  /** While a person may type below everything. */
  #prompt: PromptRow | undefined;

  constructor(answers: Output, notes: Output, noColor: boolean) {
    this.#answers = answers;
    this.#notes = notes;
    this.colour = notes.isTTY === true && !noColor;
  }

  /** Sets a mode of the terminal, which shows nothing. */
  readonly control = (sequence: string): void => void this.#notes.write(sequence);

  /** A piece of the answer, as it comes. */
  answer(text: string): void {
    if (text === "" || this.#waits(() => this.answer(text))) return;
    if (this.#prompt !== undefined && this.#answers.isTTY === true) return this.#prompt.answer(printable(text));
    this.#erase();
    this.#answers.write(this.#answers.isTTY === true ? printable(text) : text);
    this.#lineOpen = !text.endsWith("\n");
  }

  /** Ends the answer's line where it is still open. */
  endLine(): void {
    if (this.#waits(() => this.endLine())) return;
    this.#prompt?.endLine();
    if (this.#lineOpen) this.#answers.write("\n");
    this.#lineOpen = false;
  }

  /** A whole line about the answer. */
  note(text: string, tone: Tone = "plain"): void {
    if (this.#waits(() => this.note(text, tone))) return;
    this.endLine();
    if (this.#prompt !== undefined) return this.#prompt.line(paint([{ text, tone }], this.colour));
    this.#erase();
    this.#notes.write(`${paint([{ text, tone }], this.colour)}\n`);
    this.#draw();
  }

  /** The size of the terminal that the notes are on, as it is now. */
  get size(): { rows: number; columns: number } {
    return { rows: this.#notes.rows || USUAL_ROWS, columns: this.#notes.columns || USUAL_COLUMNS };
  }

  /** A row below everything else, in which a person types, until it is disposed of. */
  prompt(): PromptRow {
    this.endLine();
    this.#erase();
    const prompt = new PromptRow(this.#regionTerminal(), this.#answers, (isLineOpen) => {
      this.#lineOpen = isLineOpen;
      this.#prompt = undefined;
    });
    this.#prompt = prompt;
    return prompt;
  }

  /**
   * Keeps everything else off the terminal until it is disposed of, so that a question stays where a person reads it.
   * @returns writes a line of the question, or gives a row to type an answer in
   */
  question(): Disposable & { line: (pieces: readonly Piece[]) => void; draft: () => DraftRow } {
    this.status("");
    this.endLine();
    this.#prompt?.cover();
    this.#waiting = [];
    const line = (pieces: readonly Piece[]): void => void this.#notes.write(`${paint(pieces, this.colour)}\n`);
    const draft = (): DraftRow => {
      const region = new LiveRegion(this.#regionTerminal());
      const end = (text: string): void => {
        region.hide();
        line([{ text: `› ${printableLine(text)}`, tone: "plain" }]);
      };
      return { show: (content) => region.show(content), end };
    };
    return {
      line,
      draft,
      [Symbol.dispose]: () => {
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        this.#prompt?.uncover();
        for (const write of waiting) write();
      },
    };
  }

  /** What is going on just now, on a terminal only; it vanishes when anything else is written. Empty: nothing. */
  status(text: string): void {
    if (this.#notes.isTTY !== true || this.#waits(() => this.status(text))) return;
    this.#erase();
    this.#status = printableLine(text, STATUS_CHARACTERS);
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#status === "") return this.#prompt?.status("");
    this.endLine();
    this.#draw();
    this.#timer = setInterval(() => this.#draw(), FRAME_MILLISECONDS).unref();
  }

  #waits(write: () => void): boolean {
    this.#waiting?.push(write);
    return this.#waiting !== undefined;
  }

  #regionTerminal(): RegionTerminal {
    const columns = (): number => this.size.columns;
    return {
      get columns(): number {
        return columns();
      },
      colour: this.colour,
      write: (text) => void (text !== "" && this.#notes.write(text)),
      onResize: (redraw) => {
        this.#notes.on?.("resize", redraw);
        return () => void this.#notes.off?.("resize", redraw);
      },
    };
  }

  #draw(): void {
    if (this.#status === "" || this.#lineOpen) return;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const text = `${FRAMES[this.#frame]} ${this.#status}`;
    if (this.#prompt !== undefined) return this.#prompt.status(text);
    this.#notes.write(`${ERASE_LINE}${paint([{ text, tone: "dim" }], this.colour)}`);
  }

  #erase(): void {
    if (this.#status !== "" && !this.#lineOpen && this.#prompt === undefined) this.#notes.write(ERASE_LINE);
  }
}
