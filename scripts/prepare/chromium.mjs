import { existsSync } from "node:fs";
import { installAsRoot, isDebianLike } from "./debian-package.mjs";
import { NotPrepared, say } from "./not-prepared.mjs";

const CHROMIUM = process.env.HLVM_CHROMIUM ?? "/usr/bin/chromium";

/** Sees to the browser that the page's tests drive. Without it everything else is tested all the same. */
export function installChromium() {
  if (existsSync(CHROMIUM)) return;
  const missing = "Chromium, in which the page is tested, is missing";
  try {
    if (process.getuid() === 0 && isDebianLike()) return installAsRoot("chromium", missing);
    say(`${missing}: the tests of the page do not run. Install it, or name one with HLVM_CHROMIUM.`);
  } catch (cause) {
    if (!(cause instanceof NotPrepared)) throw cause;
    say(`${cause.message} Until then the tests of the page do not run.`);
  }
}
