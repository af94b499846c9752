/** A server that keeps prompts in its memory beside its slots is believed to hold no more than this. */
const MOST_PROMPTS = 256;

/**
 * What one server has in its cache, as far as can be told from here: the prompts that it had last, a slot keeps one. It is
 * corrected by what the server says that it used again.
 */
export class HeldPrefixes {
  /** The one used last at the end. */
  readonly #prompts: (readonly string[])[] = [];
  /** In how many of the prompts a block is. */
  readonly #blocks = new Map<string, number>();
  #slots = 1;
  /** What a server has shown that it holds beyond its slots. */
  #beyondSlots = 0;

  setSlots(slots: number): void {
    this.#slots = Math.max(1, slots);
    this.#trim();
  }

  /** How many blocks of a prompt, from its beginning, are there. */
  matched(hashes: readonly string[]): number {
    // A block's hash is of all before it too: the last one that is there is found by halving.
    let [known, unknown] = [0, hashes.length + 1];
    while (unknown - known > 1) {
      const middle = Math.floor((known + unknown) / 2);
      if (this.#blocks.has(hashes[middle - 1]!)) known = middle;
      else unknown = middle;
    }
    return known;
  }

  /** The server has read a prompt: it takes the place of the one that it goes on from, or of the one that was not used for longest. */
  add(hashes: readonly string[]): void {
    const continued = this.#prompts.findIndex((prompt) => {
      const shared = commonLength(prompt, hashes);
      // Its last block was cut short where the prompt ended.
      return shared >= prompt.length - 1 && shared > 0;
    });
    if (continued !== -1) this.#remove(continued);
    this.#prompts.push(hashes);
    this.#count(hashes, 1);
    this.#trim();
  }

  /**
   * What the server says that it used again of a prompt, in blocks. Less than was expected: what lies past it is forgotten, in
   * all prompts that go on from there.
   * @param expected what `matched` gave
   */
  correct(hashes: readonly string[], expected: number, used: number): void {
    if (used >= expected) return;
    const past = hashes[used]!;
    for (let index = this.#prompts.length - 1; index >= 0; index--) {
      const prompt = this.#prompts[index]!;
      if (prompt[used] !== past) continue;
      this.#remove(index);
      if (used > 0) {
        this.#prompts.splice(index, 0, prompt.slice(0, used));
        this.#count(prompt.slice(0, used), 1);
      }
    }
    this.#beyondSlots = Math.floor(this.#beyondSlots / 2);
  }

  /** The server used more again than its slots were thought to hold: it keeps prompts elsewhere too. */
  surprise(): void {
    this.#beyondSlots = Math.min(MOST_PROMPTS, this.#beyondSlots * 2 + 1);
  }

  clear(): void {
    this.#prompts.length = 0;
    this.#blocks.clear();
  }

  #trim(): void {
    while (this.#prompts.length > this.#slots + this.#beyondSlots) this.#remove(0);
  }

  #remove(index: number): void {
    const [prompt] = this.#prompts.splice(index, 1);
    this.#count(prompt!, -1);
  }

  #count(hashes: readonly string[], change: 1 | -1): void {
    for (const hash of hashes) {
      const count = (this.#blocks.get(hash) ?? 0) + change;
      if (count === 0) this.#blocks.delete(hash);
      else this.#blocks.set(hash, count);
    }
  }
}

function commonLength(one: readonly string[], other: readonly string[]): number {
  let length = Math.min(one.length, other.length);
  while (length > 0 && one[length - 1] !== other[length - 1]) length--;
  return length;
}
