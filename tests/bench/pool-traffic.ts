/** One turn of a conversation: all that was said before it, and something new. */
export interface PoolTurn {
  readonly conversation: number;
  readonly text: readonly string[];
}

export interface PoolConversation {
  readonly turns: readonly PoolTurn[];
  /** Before each turn, as a person reads or a tool runs. */
  readonly thinkMilliseconds: readonly number[];
}

const SYSTEM_CHARACTERS = 600;
const FIRST_CHARACTERS = [1_500, 4_000] as const;
const NEXT_CHARACTERS = [100, 350] as const;
const THINK_MILLISECONDS = [150, 900] as const;

/**
 * Conversations as agents have them: the same system prompt, a long first message, then short ones. The same each time.
 * @param seed another one gives other conversations
 */
export function poolTraffic(conversations: number, turns: number, seed: number): readonly PoolConversation[] {
  const random = randomNumbers(seed);
  const between = ([least, most]: readonly [number, number]): number => Math.round(least + random() * (most - least));
  const system = words("system", SYSTEM_CHARACTERS);
  return Array.from({ length: conversations }, (_empty, conversation) => {
    const texts = Array.from({ length: turns }, (_none, turn) =>
      words(`conversation ${seed} ${conversation} turn ${turn}`, between(turn === 0 ? FIRST_CHARACTERS : NEXT_CHARACTERS)),
    );
    return {
      turns: texts.map((_text, turn) => ({ conversation, text: [system, ...texts.slice(0, turn + 1)] })),
      thinkMilliseconds: texts.map(() => between(THINK_MILLISECONDS)),
    };
  });
}

/** What a cache without limits could give of all prompts, in characters, which are tokens here: all of a conversation's turn before. */
export function cacheableCharacters(conversations: readonly PoolConversation[]): number {
  const lengths = conversations.map(({ turns }) => turns.map(({ text }) => text.join("").length));
  return lengths.reduce(
    (sum, own) => sum + own.slice(0, -1).reduce((all, each) => all + each, 0),
    SYSTEM_CHARACTERS * (lengths.length - 1),
  );
}

function words(name: string, characters: number): string {
  return `${name} says something. `.repeat(Math.ceil(characters / name.length)).slice(0, characters);
}

/** mulberry32. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What was heard of one turn. */
export interface Said {
  readonly firstMilliseconds: number;
  readonly milliseconds: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
}

export type Speak = (turn: PoolTurn, options?: { readonly isBatch?: boolean }) => Promise<Said>;
