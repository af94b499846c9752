import { printable, printableLine } from "./printable.ts";

export type Tone = "plain" | "dim" | "good" | "warning" | "bad";

const TONES: Readonly<Record<Tone, string>> = { plain: "", dim: "\u001b[2m", good: "\u001b[32m", warning: "\u001b[33m", bad: "\u001b[31m" };
const RESET = "\u001b[0m";
const ERASE_LINE = "\r\u001b[2K";
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MILLISECONDS = 100;
const STATUS_CHARACTERS = 72;

export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * The two outputs of a command. The answer goes to standard output, everything about it to standard error. Whatever reaches
 * a terminal is made printable here, so no caller can forget it.
 */
export class Screen {
  readonly #answers: Output;
  readonly #notes: Output;
  readonly #colour: boolean;
  #lineOpen = false;
  #status = "";
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(answers: Output, notes: Output, noColor: boolean) {
    this.#answers = answers;
    this.#notes = notes;
    this.#colour = notes.isTTY === true && !noColor;
  }

  /** A piece of the answer, as it comes. */
  answer(text: string): void {
    if (text === "") return;
    this.#erase();
    this.#answers.write(this.#answers.isTTY === true ? printable(text) : text);
    this.#lineOpen = !text.endsWith("\n");
  }

  /** Ends the answer's line where it is still open. */
  endLine(): void {
    if (this.#lineOpen) this.#answers.write("\n");
    this.#lineOpen = false;
  }

  /** A whole line about the answer. */
  note(text: string, tone: Tone = "plain"): void {
    this.endLine();
    this.#erase();
    const shown = printable(text);
    this.#notes.write(this.#colour && tone !== "plain" ? `${TONES[tone]}${shown}${RESET}\n` : `${shown}\n`);
    this.#draw();
  }

  /** What is going on just now, on a terminal only; it vanishes when anything else is written. Empty: nothing. */
  status(text: string): void {
    if (this.#notes.isTTY !== true) return;
    this.#erase();
    this.#status = printableLine(text, STATUS_CHARACTERS);
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#status === "") return;
    this.endLine();
    this.#draw();
    this.#timer = setInterval(() => this.#draw(), FRAME_MILLISECONDS).unref();
  }

  #draw(): void {
    if (this.#status === "" || this.#lineOpen) return;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const text = `${FRAMES[this.#frame]} ${this.#status}`;
    this.#notes.write(`${ERASE_LINE}${this.#colour ? `${TONES.dim}${text}${RESET}` : text}`);
  }

  #erase(): void {
    if (this.#status !== "" && !this.#lineOpen) this.#notes.write(ERASE_LINE);
  }
}
