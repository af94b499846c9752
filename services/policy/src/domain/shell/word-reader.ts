/**
 * A shell parser that reads a command as parts joined by `&&`, `||`, `;` or `|`, each a list of words with their quotes
 * taken off. Undefined: it found anything else in it. Two of different make have to agree, so that one's mistake is not ours.
 */
export type WordReader = (command: string) => readonly (readonly string[])[] | undefined;
