/** A frozen peer is noticed within the two together. */
export const PING_INTERVAL_MILLISECONDS = 15_000;
export const PING_TIMEOUT_MILLISECONDS = 5_000;
/** A conversation is sent whole with every question to a model: with HTTP/2's 64 KiB it would come in many round trips. */
export const WINDOW_BYTES = 1024 * 1024;
