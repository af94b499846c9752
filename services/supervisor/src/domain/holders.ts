import type { Lifetime } from "@hlvm/mesh/supervisor-message";

/** Counts who holds the mesh, and ends a mesh that lives only while it is held. */
export class Holders {
  readonly #lifetime: Lifetime;
  readonly #end: (why: string) => void;
  #count = 0;
  #grace: NodeJS.Timeout | undefined;

  /** @param graceMilliseconds for the first one to come */
  constructor(lifetime: Lifetime, graceMilliseconds: number, end: (why: string) => void) {
    this.#lifetime = lifetime;
    this.#end = end;
    if (lifetime === "while-held") this.#grace = setTimeout(() => end("nobody came to hold the mesh"), graceMilliseconds);
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
      if (this.#count === 0 && this.#lifetime === "while-held") this.#end("nobody holds the mesh any more");
    };
  }
}
