import { spawn } from "node:child_process";
import { once } from "node:events";

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: "open", linux: "xdg-open" };

/** Whether this machine has something that opens a browser, and it did. The link is passed to it alone. */
export async function openBrowser(link: string): Promise<boolean> {
  const opener = OPENERS[process.platform];
  if (opener === undefined) return false;
  try {
    const child = spawn(opener, [link], { stdio: "ignore", detached: true });
    const [code] = (await once(child, "exit")) as [number | null];
    return code === 0;
  } catch {
    // There is no such program: the link is printed.
    return false;
  }
}
