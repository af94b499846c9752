import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Request } from "./read-body.ts";
import type { Response } from "./send-error.ts";

/** Source maps are built and not served: they are not in this list. */
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".woff2": "font/woff2",
  ".svg": "image/svg+xml",
};
/** Paths that the page itself makes sense of. */
const PLACES = /^\/(?:(?:s|approvals|memory|audit|cost|models|settings|people|device)(?:\/[\w-]{1,128}){0,2})?$/;

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** By encoding, the smallest first. */
  readonly encoded: readonly (readonly [string, Buffer])[];
}

/**
 * The page's files, public as they are: they hold nothing secret. All are in memory, by the path under which they are asked for,
 * so that no path leads anywhere else.
 */
export class PageFiles {
  readonly #files = new Map<string, PageFile>();

  /** @param directory what `vite build` wrote; empty: there is no page @throws HlvmError `page_not_readable` */
  constructor(directory: string) {
    if (directory === "") return;
    try {
      this.#add("/index.html", join(directory, "index.html"));
      for (const name of readdirSync(join(directory, "assets")))
        if (TYPES[extname(name)] !== undefined) this.#add(`/assets/${name}`, join(directory, "assets", name));
    } catch (cause) {
      throw new HlvmError({
        code: "failed_precondition",
        reason: "page_not_readable",
        message: `The page in ${directory} cannot be read: ${(cause as Error).message}.`,
        advice: "Build it again (`vite build` in services/web), or unset HLVM_WEB_DIR.",
        cause,
      });
    }
  }

  /** Answers where a file, or a place in the page, is asked for. @returns whether it did */
  answer(request: Request, response: Response): boolean {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    const path = request.url?.split("?", 1)[0] ?? "";
    const isPlace = PLACES.test(path);
    const file = this.#files.get(isPlace ? "/index.html" : path);
    if (file === undefined || path === "/index.html") return false;
    const accepted = request.headers["accept-encoding"] ?? "";
    const [encoding, bytes] = file.encoded.find(([name]) => accepted.includes(name)) ?? ["", file.bytes];
    response.writeHead(200, {
      "content-type": file.type,
      "content-length": bytes.length,
      // Every file but the page itself has a hash of what is in it in its name.
      "cache-control": isPlace ? "no-store" : "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...(encoding === "" ? {} : { "content-encoding": encoding }),
    });
    if (request.method === "HEAD") response.end();
    else response.end(bytes);
    return true;
  }

  #add(path: string, file: string): void {
    const encoded = (
      [
        ["br", ".br"],
        ["gzip", ".gz"],
      ] as const
    ).flatMap(([encoding, ending]) => {
      const bytes = readIfThere(`${file}${ending}`);
      return bytes === undefined ? [] : [[encoding, bytes] as const];
    });
    this.#files.set(path, { type: TYPES[extname(path)]!, bytes: readFileSync(file), encoded });
  }
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
}
