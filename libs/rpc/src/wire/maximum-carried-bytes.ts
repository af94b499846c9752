import { MAXIMUM_MESSAGE_BYTES } from "./maximum-message-bytes.ts";
import { UNREAD_LIMIT } from "./unread-limit.ts";

/**
 * Of what is sent at a time on a stream that carries calls: one message at its largest, with what may be unread before it or
 * a token beside it, and what frames them.
 */
export const MAXIMUM_CARRIED_BYTES = MAXIMUM_MESSAGE_BYTES + 2 * UNREAD_LIMIT;
