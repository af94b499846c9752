/** Under way at a time on one stream; who has more to make opens another. */
export const MAXIMUM_CALLS = 1_000;
