import { StringDecoder } from "node:string_decoder";

/** A key that was pressed, or text: typed, or pasted in one piece. */
export interface Key {
  readonly name: KeyName;
  /** Of `text` and `paste`. */
  readonly text: string;
}

export type KeyName = "text" | "paste" | (typeof CONTROLS)[keyof typeof CONTROLS] | (typeof SEQUENCES)[keyof typeof SEQUENCES] | "escape";

const CONTROLS = {
  "\r": "enter",
  // Ctrl-J: what comes of Enter in raw mode is a carriage return.
  "\n": "newline",
  "\u0001": "home",
  "\u0002": "left",
  "\u0003": "ctrl-c",
  "\u0004": "ctrl-d",
  "\u0005": "end",
  "\u0006": "right",
  "\b": "backspace",
  "\u007f": "backspace",
  "\u000b": "erase-after",
  "\u000c": "redraw",
  "\u0015": "erase-before",
  "\u0017": "erase-word",
  "\u001a": "ctrl-z",
} as const;

/** What follows an escape character. */
const SEQUENCES = {
  "[A": "up",
  OA: "up",
  "[B": "down",
  OB: "down",
  "[C": "right",
  OC: "right",
  "[D": "left",
  OD: "left",
  "[H": "home",
  OH: "home",
  "[1~": "home",
  "[F": "end",
  OF: "end",
  "[4~": "end",
  "[3~": "delete",
  "[6~": "down",
  "[1;3C": "word-right",
  "[1;5C": "word-right",
  f: "word-right",
  "[1;3D": "word-left",
  "[1;5D": "word-left",
  b: "word-left",
  "\u007f": "erase-word",
  "\r": "newline",
} as const;

const CONTROL_C = "\u0003";
const ESCAPE = "\u001b";
const PASTE_BEGIN = `${ESCAPE}[200~`;
const PASTE_END = `${ESCAPE}[201~`;
/** Of what begins with an escape character. */
const WHOLE_SEQUENCE = /^.(\[[0-?]*[ -/]*[@-~]|O[@-~]|[\r\u007f]|[^\p{Cc}[O])/su;
const BEGUN_SEQUENCE = /^.(\[[0-?]{0,32}[ -/]{0,8}|O)?$/su;
const TYPED = /^\P{Cc}+/u;
/** Of one piece of pasted text; nothing longer can be sent. */
const MOST_PASTED = 1024 * 1024;

/** Makes keys of the bytes that a terminal in raw mode sends, however they are cut. */
export class KeyDecoder {
  readonly #utf8 = new StringDecoder("utf8");
  #rest = "";
  #pasted: string | undefined;

  /** Whether there is an escape character that may be the Escape key, or the beginning of another key's sequence. */
  get isUndecided(): boolean {
    return this.#pasted === undefined && this.#rest !== "";
  }

  push(data: Buffer): Key[] {
    const typed = this.#utf8.write(data);
    if (typed === CONTROL_C) return this.#abandon();
    this.#rest += typed;
    const keys: Key[] = [];
    while (this.#rest !== "") {
      const key = this.#pasted === undefined ? this.#next() : this.#paste();
      if (key === "incomplete") break;
      if (key !== undefined) keys.push(key);
    }
    return keys;
  }

  /** Nothing came for a while behind what was undecided. */
  settle(): Key[] {
    if (!this.isUndecided) return [];
    const wasEscape = this.#rest === ESCAPE;
    this.#rest = "";
    return wasEscape ? [{ name: "escape", text: "" }] : [];
  }

  /** Also out of pasted text whose end never comes. */
  #abandon(): Key[] {
    this.#rest = "";
    this.#pasted = undefined;
    return [{ name: "ctrl-c", text: "" }];
  }

  #next(): Key | "incomplete" | undefined {
    const rest = this.#rest;
    if (rest.startsWith(PASTE_BEGIN)) {
      this.#rest = rest.slice(PASTE_BEGIN.length);
      this.#pasted = "";
      return undefined;
    }
    if (rest.startsWith(ESCAPE)) return this.#sequence();
    const [text] = TYPED.exec(rest) ?? [];
    this.#rest = rest.slice(text?.length ?? 1);
    if (text !== undefined) return { name: "text", text };
    const control = CONTROLS[rest[0] as keyof typeof CONTROLS] as KeyName | undefined;
    return control === undefined ? undefined : { name: control, text: "" };
  }

  #sequence(): Key | "incomplete" | undefined {
    if (BEGUN_SEQUENCE.test(this.#rest)) return "incomplete";
    const [whole, sequence] = WHOLE_SEQUENCE.exec(this.#rest) ?? [];
    this.#rest = this.#rest.slice(whole?.length ?? 1);
    if (sequence === undefined) return { name: "escape", text: "" };
    const name = SEQUENCES[sequence as keyof typeof SEQUENCES] as KeyName | undefined;
    return name === undefined ? undefined : { name, text: "" };
  }

  #paste(): Key | "incomplete" | undefined {
    const end = this.#rest.indexOf(PASTE_END);
    // The end's own beginning may be the last that came.
    const taken = end < 0 ? Math.max(this.#rest.length - PASTE_END.length + 1, 0) : end;
    this.#pasted = (this.#pasted! + this.#rest.slice(0, taken)).slice(0, MOST_PASTED);
    this.#rest = this.#rest.slice(end < 0 ? taken : end + PASTE_END.length);
    if (end < 0) return "incomplete";
    const text = this.#pasted.replace(/\r\n?/g, "\n").replaceAll("\0", "");
    this.#pasted = undefined;
    return { name: "paste", text };
  }
}
