import { HlvmError } from "@hlvm/errors/hlvm-error";

const COMMIT = /^[0-9a-f]{40}$/;
const MAXIMUM_NAME_LENGTH = 100;

/** A repository that a workspace is to be made of, and what of it. */
export interface GitSource {
  readonly kind: "https" | "file";
  /** Without a name and password. */
  readonly url: URL;
  /** The value of the header that stands for them; empty where there are none. */
  readonly authorization: string;
  /** A branch, a tag or a whole commit id; empty: the repository's own branch. */
  readonly ref: string;
  /** Of the folder to be. */
  readonly name: string;
}

/**
 * Reads what a person asks to be cloned. Nothing of it reaches git's command line as it is but the reference, which cannot be
 * an option or a search.
 * @throws HlvmError `repository_not_allowed`, `reference_invalid`
 */
export function parseGitSource(given: string, ref: string): GitSource {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "file:"))
    throw notAllowed(url === undefined ? "It is no URL." : `${url.protocol}// is not used here.`);
  if (url.search !== "" || url.hash !== "") throw notAllowed("It has a query or a fragment.");
  const isFile = url.protocol === "file:";
  if (isFile && url.host !== "") throw notAllowed("A file:// URL names no host.");
  requireReference(ref);
  const authorization = authorizationOf(url);
  url.username = "";
  url.password = "";
  return {
    kind: isFile ? "file" : "https",
    url,
    authorization,
    ref,
    name: folderName(url.pathname.split("/").findLast((part) => part !== "")),
  };
}

export function isCommit(ref: string): boolean {
  return COMMIT.test(ref);
}

/** A name that a folder can have anywhere and that no program takes for its settings. */
export function folderName(given = ""): string {
  const name = given
    .replace(/\.git$/, "")
    .replaceAll(/[^\w.-]/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, MAXIMUM_NAME_LENGTH);
  return name === "" ? "repository" : name;
}

/** By git's rules for names of branches, without what it reads as a search. @throws HlvmError `reference_invalid` */
export function requireReference(ref: string): void {
  if (ref === "" || (/^[\w][\w./@+-]*$/.test(ref) && !/\.\.|\/\/|\/\.|@\{|\.lock(\/|$)|[./]$/.test(ref))) return;
  throw new HlvmError({
    code: "invalid_argument",
    reason: "reference_invalid",
    message: `${JSON.stringify(ref)} is not the name of a branch or tag, and no commit id.`,
    advice: "Give a branch, a tag or a whole commit id after the #.",
  });
}

function authorizationOf({ username, password }: URL): string {
  if (username === "" && password === "") return "";
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")}`;
}

/** The URL itself is not repeated: there may be a password in it. */
function notAllowed(why: string): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "repository_not_allowed",
    message: `The repository cannot be cloned: ${why}`,
    advice: "Give the address that begins with https://. What is reached by ssh only can be cloned on your machine and sent with --upload.",
  });
}
