import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import type { Client } from "@connectrpc/connect";
import type { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Key } from "../terminal/key-decoder.ts";
import { pastedImages } from "../options/pasted-images.ts";
import { LineEditor } from "../terminal/line-editor.ts";
import type { PromptRow } from "../terminal/prompt-row.ts";
import type { Screen } from "../terminal/screen.ts";
import type { TerminalInput } from "../terminal/terminal-input.ts";
import { askedFiles, sendWithFiles } from "./send-with-files.ts";

export interface Steered {
  readonly screen: Screen;
  readonly input: TerminalInput;
  readonly sessions: Pick<Client<typeof SessionService>, "sendMessage">;
  readonly sessionId: string;
  /** The person wants to go, and the run to go on. */
  readonly onLeave: () => void;
  /** What Ctrl-C does. */
  readonly controlC: string;
}

const SEND_MILLISECONDS = 10_000;
const PLACEHOLDER = "Type to steer: Enter queues it, Esc interrupts the turn with it";
/** Sent where what it shall go on with was queued before. */
const GO_ON = "Go on with what I said, now.";

/**
 * The line below a run's output in which a person types what its model reads next. What is sent is shown when it is in the log,
 * as everybody else sees it.
 */
export class Steering implements Disposable {
  readonly #steered: Steered;
  readonly #editor = new LineEditor();
  readonly #row: PromptRow;
  readonly #reading: Disposable;
  /** Sequences of messages that the model has not read. */
  readonly #unread = new Set<bigint>();
  #sent: Promise<void> = Promise.resolve();

  constructor(steered: Steered) {
    this.#steered = steered;
    this.#row = steered.screen.prompt();
    this.#reading = steered.input.read({ key: (key) => this.#key(key), early: (key) => this.#early(key) });
    this.#show();
  }

  event({ payload, sequence }: Event): void {
    if (payload.case === "messageQueued") this.#unread.add(sequence);
    else if (payload.case === "userMessage") this.#unread.delete(payload.value.queuedSequence);
  }

  [Symbol.dispose](): void {
    this.#reading[Symbol.dispose]();
    this.#row[Symbol.dispose]();
  }

  #key(key: Key): void {
    const { screen, onLeave } = this.#steered;
    if (key.name === "enter") this.#send(false);
    else if (key.name === "escape") this.#send(true);
    else if (key.name === "ctrl-d" && this.#editor.text === "") return onLeave();
    else if (key.name === "ctrl-d") this.#editor.press({ name: "delete", text: "" });
    else if (!this.#editor.press(key) && key.text !== "") screen.note("That is longer than a message may be.", "warning");
    this.#show();
  }

  /** A question came while a line was being typed; what was pressed before it was seen belongs to the line. */
  #early(key: Key): void {
    if (this.#editor.text === "" || (key.text === "" && key.name !== "backspace")) return;
    this.#editor.press(key);
    this.#show();
  }

  #send(interrupt: boolean): void {
    const typed = this.#editor.text;
    const text = typed.trim() === "" && interrupt && this.#unread.size > 0 ? GO_ON : typed;
    if (text.trim() === "") {
      if (interrupt) this.#steered.screen.note("Type what the run shall go on with; Esc then interrupts the turn with it.", "dim");
      return;
    }
    this.#editor.set("");
    this.#sent = this.#sent.then(() => this.#sendNext(text, interrupt));
  }

  async #sendNext(text: string, interrupt: boolean): Promise<void> {
    try {
      const { sessions, sessionId, screen } = this.#steered;
      const { question, images } = pastedImages(text);
      await sendWithFiles(
        (attachments) => sessions.sendMessage({ sessionId, text: question, interrupt, attachments }, { timeoutMs: SEND_MILLISECONDS }),
        askedFiles([], images),
        screen,
      );
    } catch (thrown) {
      const { message, advice } = fromConnectError(thrown);
      this.#steered.screen.note(`It was not sent: ${message} ${advice}`, "bad");
      // Nothing typed is lost; what was typed meanwhile comes first.
      if (this.#editor.text === "") this.#editor.set(text);
      this.#show();
    }
  }

  #show(): void {
    const { before, after, text } = this.#editor;
    const { controlC } = this.#steered;
    const footer = text === "" ? `Ctrl-C ${controlC} · Ctrl-D leaves` : `Enter queues · Esc interrupts · Ctrl-C ${controlC}`;
    this.#row.show({ before, after, placeholder: PLACEHOLDER, footer });
  }
}
