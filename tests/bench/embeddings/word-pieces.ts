const START_OF_WORD = "\u2581";
/** The first ones mark what is unknown, begins or ends: none of them is looked for in a text. */
const RESERVED = 6;
const UNKNOWN = 0;

interface Branch {
  readonly next: Map<string, Branch>;
  /** The piece that ends here, if one does. */
  id?: number;
  score: number;
}

const newBranch = (): Branch => ({ next: new Map(), score: 0 });

/**
 * Cuts a text into the encoder's pieces, by the likeliest of all ways. As the tokenizer that Google published with it does, to the
 * letter: an unknown character costs nothing there, and a total of 0 means "not reached yet" besides.
 */
export class WordPieces {
  readonly #root = newBranch();

  constructor(vocabulary: readonly (readonly [piece: string, score: number])[]) {
    for (const [id, [piece, score]] of vocabulary.entries()) {
      if (id < RESERVED) continue;
      let branch = this.#root;
      for (const character of piece) {
        const next = branch.next.get(character) ?? newBranch();
        branch.next.set(character, next);
        branch = next;
      }
      branch.id = id;
      branch.score = score;
    }
  }

  idsOf(text: string): number[] {
    const normalized = text.normalize("NFKC");
    if (normalized === "") return [];
    const characters = [...(START_OF_WORD + normalized.replaceAll(" ", START_OF_WORD))];
    const best = new Float64Array(characters.length + 1);
    const idAt = new Int32Array(characters.length + 1);
    const startOf = new Int32Array(characters.length + 1);
    const reach = (start: number, end: number, id: number, score: number): void => {
      const total = best[start]! + score;
      if (best[end] !== 0 && total < best[end]!) return;
      best[end] = total;
      idAt[end] = id;
      startOf[end] = start;
    };
    for (let start = 0; start < characters.length; start++) {
      let isKnown = false;
      let branch = this.#root.next.get(characters[start]!);
      for (let end = start + 1; branch !== undefined; branch = branch.next.get(characters[end++]!)) {
        if (branch.id === undefined) continue;
        isKnown = true;
        reach(start, end, branch.id, branch.score);
      }
      if (!isKnown) reach(start, start + 1, UNKNOWN, 0);
    }
    const ids: number[] = [];
    for (let end = characters.length; end > 0; end = startOf[end]!)
      if (idAt[end] !== UNKNOWN || ids.at(-1) !== UNKNOWN) ids.push(idAt[end]!);
    return ids.toReversed();
  }
}
