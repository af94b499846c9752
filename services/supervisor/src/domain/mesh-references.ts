/** Counts the references to the mesh, and ends a mesh that lives only while there are any. */
export class MeshReferences {
  readonly #endsUnreferenced: boolean;
  readonly #end: (why: string) => void;
  #count = 0;
  #grace: NodeJS.Timeout | undefined;

  /**
   * @param endsUnreferenced whether the mesh lives only while there are references to it
   * @param graceMilliseconds for the first one to come
   */
  constructor(endsUnreferenced: boolean, graceMilliseconds: number, end: (why: string) => void) {
    this.#endsUnreferenced = endsUnreferenced;
    this.#end = end;
    if (endsUnreferenced) this.#grace = setTimeout(() => end("nobody came to use the mesh"), graceMilliseconds);
  }

  /** @returns to be called when that reference is gone, once */
  take(): () => void {
    clearTimeout(this.#grace);
    this.#count++;
    let gone = false;
    return () => {
      if (gone) return;
      gone = true;
      this.#count--;
      if (this.#count === 0 && this.#endsUnreferenced) this.#end("nobody uses the mesh any more");
    };
  }
}
