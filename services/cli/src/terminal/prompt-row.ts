import { firstColumns } from "./draft-view.ts";
import { LiveRegion, type RegionContent, type RegionTerminal } from "./live-region.ts";
import { displayWidth } from "./wrap-pieces.ts";

/** A reader sees no difference to a piece at a time, and a terminal far away has less to draw. */
const REDRAW_MILLISECONDS = 33;
const LEAST_STATUS_COLUMNS = 16;

/** Where a person types below everything else that is shown, and what goes on beside what their keys do. */
export class PromptRow implements Disposable {
  readonly #terminal: RegionTerminal;
  readonly #region: LiveRegion;
  readonly #answers: { write(text: string): unknown };
  readonly #onClose: (isLineOpen: boolean) => void;
  readonly #endResize: () => void;
  readonly #onExit = (): void => this.#region.hide();
  #content: RegionContent = { before: "", after: "", placeholder: "", footer: "" };
  #status = "";
  /** Of the answer, not yet written. */
  #pending = "";
  #redraw: NodeJS.Timeout | undefined;
  #isCovered = false;
  #isClosed = false;

  /** @param onClose told whether the answer's line is open then */
  constructor(terminal: RegionTerminal, answers: { write(text: string): unknown }, onClose: (isLineOpen: boolean) => void) {
    this.#terminal = terminal;
    this.#region = new LiveRegion(terminal);
    this.#answers = answers;
    this.#onClose = onClose;
    this.#endResize = terminal.onResize(() => this.#draw());
    process.on("exit", this.#onExit);
  }

  /** What is typed, and as the footer what the keys do. */
  show(content: RegionContent): void {
    this.#content = content;
    this.#draw();
  }

  status(text: string): void {
    if (text === this.#status) return;
    this.#status = text;
    this.#draw();
  }

  /** A piece of the answer, made printable. */
  answer(text: string): void {
    this.#pending += text;
    this.#redraw ??= setTimeout(() => this.#flush(), REDRAW_MILLISECONDS);
  }

  endLine(): void {
    this.#flush();
    if (this.#region.isRowOpen) this.#print("\n");
  }

  /** A whole line, painted. */
  line(painted: string): void {
    this.#region.printLine(painted);
  }

  /** A question is put, so nothing is shown here until it is answered. */
  cover(): void {
    this.#region.hide();
    this.#isCovered = true;
  }

  uncover(): void {
    this.#isCovered = false;
    this.#draw();
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endResize();
    process.off("exit", this.#onExit);
    this.#flush();
    this.#region.hide();
    this.#onClose(this.#region.isRowOpen);
  }

  #draw(): void {
    if (this.#isCovered || this.#isClosed) return;
    const { footer } = this.#content;
    const room = Math.max(this.#terminal.columns - displayWidth(footer) - 4, LEAST_STATUS_COLUMNS);
    const status = this.#status === "" ? "" : `${firstColumns(this.#status, room)} · `;
    this.#region.show({ ...this.#content, footer: status + footer });
  }

  #flush(): void {
    clearTimeout(this.#redraw);
    this.#redraw = undefined;
    const text = this.#pending;
    this.#pending = "";
    if (text !== "") this.#print(text);
  }

  #print(text: string): void {
    this.#region.print(text, (written) => this.#answers.write(written));
  }
}
