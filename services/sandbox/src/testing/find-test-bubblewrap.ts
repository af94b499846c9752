import { findBubblewrap, type Bubblewrap } from "../adapters/bubblewrap/find-bubblewrap.ts";

/** The bubblewrap of this machine. */
export function findTestBubblewrap(): Promise<Bubblewrap> {
  return findBubblewrap(process.env.HLVM_BWRAP ?? "bwrap", process.env.PATH ?? "");
}
