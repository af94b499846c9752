/** Counts who holds the mesh, and ends a mesh that lives only while it is held. */
export class Holders {
  readonly #endsUnheld: boolean;
  readonly #end: (why: string) => void;
  #count = 0;
  #grace: NodeJS.Timeout | undefined;

  /**
   * @param endsUnheld whether the mesh lives only while it is held
   * @param graceMilliseconds for the first one to come
   */
  constructor(endsUnheld: boolean, graceMilliseconds: number, end: (why: string) => void) {
    this.#endsUnheld = endsUnheld;
    this.#end = end;
    if (endsUnheld) this.#grace = setTimeout(() => end("nobody came to hold the mesh"), graceMilliseconds);
  }

  /** @returns to be called when that holder is gone, once */
  hold(): () => void {
    clearTimeout(this.#grace);
    this.#count++;
    let gone = false;
    return () => {
      if (gone) return;
      gone = true;
      this.#count--;
      if (this.#count === 0 && this.#endsUnheld) this.#end("nobody holds the mesh any more");
    };
  }
}
