import { HlvmError } from "@hlvm/errors/hlvm-error";

/** What a call is aborted with whose gateway stops: a server that can go on with its answer does, for the next gateway. */
export const HANDED_OVER = new HlvmError({
  code: "unavailable",
  reason: "gateway_stopping",
  message: "The model gateway is stopping.",
  advice: "Go on with the answer when it is back, or ask again.",
});
