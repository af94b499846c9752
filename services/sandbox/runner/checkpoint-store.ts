import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeSync,
} from "node:fs";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const PACK_BYTES = 32 * 1024 * 1024;
/** Of one file; what is larger is not kept. */
const FILE_BYTES = 16 * 1024 * 1024;
/** Of a session. What would go beyond it is not kept; the next checkpoint then begins anew. */
const STORE_BYTES = 1024 * 1024 * 1024;
const JOURNAL_BYTES = 64 * 1024 * 1024;

/** What stands at a path. */
export interface Entry {
  readonly kind: "file" | "link" | "folder";
  readonly mode: number;
  /** Size, times and number as the system tells them: while they are the same, so is the content. Empty where that cannot be told. */
  readonly stamp: string;
  /** Of a file: the hash of its content, empty where it is not kept; of a link, where it leads. */
  readonly content: string;
}

/** What was found changed at one time, since the time before. */
export interface CheckpointRecord {
  /** The turn that was about to write; empty: its writing was done. */
  readonly turn: string;
  readonly set: readonly (readonly [path: string, entry: Entry])[];
  /** Paths that hold what they held, though the system tells other times of them. */
  readonly same: readonly (readonly [path: string, entry: Entry])[];
  readonly gone: readonly string[];
  /** Hash, pack, offset and length of contents that are kept from here on. */
  readonly kept: readonly (readonly [string, number, number, number])[];
}

/** A session's checkpoints: a journal of what changed, and packs of contents, both of which only grow. */
export class CheckpointStore {
  readonly #folder: string;
  readonly #mostBytes: number;
  readonly records: CheckpointRecord[] = [];
  readonly #contents = new Map<string, readonly [pack: number, offset: number, length: number]>();
  #fresh: (readonly [string, number, number, number])[] = [];
  #pack = 0;
  #packBytes = 0;
  #bytes = 0;
  #journalBytes = 0;

  /** @param mostBytes from so many on it begins anew */
  constructor(folder: string, mostBytes = STORE_BYTES) {
    this.#folder = folder;
    this.#mostBytes = mostBytes;
    if (!existsSync(this.#journal)) return;
    const lines = readFileSync(this.#journal, "utf8").split("\n");
    // What a process that was killed wrote of its last line counts for nothing.
    lines.pop();
    for (const line of lines) this.#take(JSON.parse(line) as CheckpointRecord, Buffer.byteLength(line) + 1);
    truncateSync(this.#journal, this.#journalBytes);
    // The pack may hold more than the journal tells of.
    this.#pack++;
    this.#packBytes = 0;
  }

  /** Begins anew where it has grown too large: what was kept so far is deleted. */
  makeRoom(): void {
    if (this.#bytes < this.#mostBytes && this.#journalBytes < JOURNAL_BYTES) return;
    for (const name of readdirSync(this.#folder)) rmSync(`${this.#folder}/${name}`, { recursive: true });
    closeSync(openSync(this.#forgotten, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600));
    this.records.length = 0;
    this.#contents.clear();
    // Of a turn that could not be noted: it went with its pack.
    this.#fresh = [];
    [this.#pack, this.#packBytes, this.#bytes, this.#journalBytes] = [0, 0, 0, 0];
  }

  /** Whether there was more than there is: it has begun anew. */
  get hasForgotten(): boolean {
    return existsSync(this.#forgotten);
  }

  /** Keeps a file's content. @returns its hash; empty where it is too large, or no file any more */
  keep(path: string): string {
    const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = fstatSync(descriptor);
      if (!stat.isFile() || stat.size > FILE_BYTES) return "";
      const bytes = readFileSync(descriptor);
      if (bytes.length > FILE_BYTES) return "";
      const hash = createHash("sha256").update(bytes).digest("hex");
      if (!this.#contents.has(hash)) {
        if (this.#bytes + bytes.length > this.#mostBytes) return "";
        this.#add(hash, bytes);
      }
      return hash;
    } finally {
      closeSync(descriptor);
    }
  }

  read(hash: string): Buffer {
    const place = this.#contents.get(hash);
    if (place === undefined) throw new Error("its content was not kept");
    const [pack, offset, length] = place;
    const bytes = Buffer.alloc(length);
    const descriptor = openSync(this.#packFile(pack), O_RDONLY | O_NOFOLLOW);
    try {
      if (readSync(descriptor, bytes, 0, length, offset) !== length) throw new Error("its content is cut");
    } finally {
      closeSync(descriptor);
    }
    if (createHash("sha256").update(bytes).digest("hex") !== hash) throw new Error("its content is damaged");
    return bytes;
  }

  /** Writes down what was found changed, with the contents kept for it. */
  append(record: Omit<CheckpointRecord, "kept">): void {
    const whole = { ...record, kept: this.#fresh };
    const line = `${JSON.stringify(whole)}\n`;
    mkdirSync(this.#folder, { recursive: true });
    appendTo(this.#journal, Buffer.from(line));
    this.#fresh = [];
    this.records.push(whole);
    this.#journalBytes += Buffer.byteLength(line);
  }

  get #journal(): string {
    return `${this.#folder}/journal`;
  }

  get #forgotten(): string {
    return `${this.#folder}/forgotten`;
  }

  #packFile(pack: number): string {
    return `${this.#folder}/pack-${pack}`;
  }

  #take(record: CheckpointRecord, bytes: number): void {
    this.records.push(record);
    this.#journalBytes += bytes;
    for (const [hash, pack, offset, length] of record.kept) {
      this.#contents.set(hash, [pack, offset, length]);
      this.#pack = Math.max(this.#pack, pack);
      this.#bytes += length;
    }
  }

  #add(hash: string, bytes: Buffer): void {
    if (this.#packBytes > PACK_BYTES) [this.#pack, this.#packBytes] = [this.#pack + 1, 0];
    const offset = appendTo(this.#packFile(this.#pack), bytes);
    this.#packBytes = offset + bytes.length;
    this.#bytes += bytes.length;
    this.#contents.set(hash, [this.#pack, offset, bytes.length]);
    this.#fresh.push([hash, this.#pack, offset, bytes.length]);
  }
}

/** @returns where in the file it begins */
function appendTo(path: string, bytes: Buffer): number {
  const descriptor = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    const { size } = fstatSync(descriptor);
    for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
    return size;
  } finally {
    closeSync(descriptor);
  }
}
