import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import { isCommit, type GitSource } from "../../domain/prepared/git-source.ts";
import { COMMITS_FETCHED, referenceNotFound, type FetchPack, type PackFetch } from "../../domain/prepared/pack-source.ts";
import { GitServer, repositoryUnreachable } from "./git-server.ts";
import { DELIMITER, FLUSH, lineText, pktLine, readPktLines } from "./pkt-lines.ts";

const MAXIMUM_REFERENCE_LINES = 10_000;
const MAXIMUM_SHALLOW = 1_000;
const REMOTE_WORDS_CHARACTERS = 200;
const PROGRESS_EVERY_BYTES = 1024 * 1024;
const CHANNEL = { data: 1, progress: 2, error: 3 } as const;

interface Wanted {
  readonly commit: string;
  readonly branch: string;
}

/**
 * Fetches from an HTTPS server by git's protocol, version 2: the sandboxes, in which git runs, have no network. The pack is
 * not looked into here; git does that where it can do no harm.
 * @param privateHosts names that may lead into the operator's own network
 */
export function fetchFromServer(privateHosts: readonly string[]): FetchPack {
  const hosts = new Set(privateHosts);
  return async (fetch) => {
    const { source, signal } = fetch;
    const server = new GitServer({ ...source, privateHosts: hosts, signal });
    try {
      fetch.onProgress(`asking ${source.url.host}`);
      await requireVersionTwo(server);
      const { commit, branch } = await findReference(server, source);
      const shallow = await fetchPack(server, commit, fetch);
      return { head: commit, snapshot: commit, branch, shallow };
    } catch (thrown) {
      if (thrown instanceof HlvmError || signal.aborted) throw thrown;
      throw repositoryUnreachable(source.url, messageOf(thrown), thrown);
    }
  };
}

async function requireVersionTwo(server: GitServer): Promise<void> {
  const said: string[] = [];
  for await (const line of readPktLines(await server.advertisement())) {
    said.push(lineText(line));
    if (said.length > MAXIMUM_REFERENCE_LINES) break;
  }
  if (!said.includes("version 2")) throw new Error("the server does not speak version 2 of git's protocol");
  if (said.some((line) => line.startsWith("object-format=") && line !== "object-format=sha1"))
    throw new Error("the repository's object format is not sha1");
}

async function findReference(server: GitServer, source: GitSource): Promise<Wanted> {
  const { ref } = source;
  if (isCommit(ref)) return { commit: ref, branch: "" };
  const names = ref === "" ? ["HEAD"] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
  const asked = names.map((name) => pktLine(`ref-prefix ${name}\n`)).join("");
  const body = `${pktLine("command=ls-refs\n")}${DELIMITER}${pktLine("peel\n")}${pktLine("symrefs\n")}${asked}${FLUSH}`;
  const found = new Map<string, Wanted>();
  let lines = 0;
  for await (const line of readPktLines(await server.command(body))) {
    if (++lines > MAXIMUM_REFERENCE_LINES) break;
    const [commit = "", name = "", ...attributes] = lineText(line).split(" ");
    const attribute = (key: string): string | undefined => attributes.find((word) => word.startsWith(key))?.slice(key.length);
    const target = name === "HEAD" ? (attribute("symref-target:") ?? "") : name;
    const branch = target.startsWith("refs/heads/") ? target.slice("refs/heads/".length) : "";
    if (isCommit(commit)) found.set(name, { commit: attribute("peeled:") ?? commit, branch });
  }
  const wanted = names.map((name) => found.get(name)).find((one) => one !== undefined);
  if (wanted === undefined || !isCommit(wanted.commit)) throw referenceNotFound(source);
  return wanted;
}

/** @returns the commits whose parents were left out */
async function fetchPack(server: GitServer, commit: string, { source, take, onProgress }: PackFetch): Promise<string[]> {
  const words = ["ofs-delta", `want ${commit}`, `deepen ${COMMITS_FETCHED}`, "done"].map((word) => pktLine(`${word}\n`)).join("");
  const shallow: string[] = [];
  let bytes = 0;
  let isPack = false;
  for await (const line of readPktLines(await server.command(`${pktLine("command=fetch\n")}${DELIMITER}${words}${FLUSH}`))) {
    if (typeof line === "string") continue;
    if (!isPack) {
      const text = lineText(line);
      isPack = text === "packfile";
      const [kind, id = ""] = text.split(" ");
      if (kind === "shallow" && isCommit(id) && shallow.length < MAXIMUM_SHALLOW) shallow.push(id);
      if (kind === "ERR") throw text.includes("not our ref") ? referenceNotFound(source) : new Error(remoteWords(line));
      continue;
    }
    const [channel] = line;
    if (channel === CHANNEL.error) throw new Error(remoteWords(line));
    if (channel === CHANNEL.progress) onProgress(remoteWords(line));
    if (channel !== CHANNEL.data) continue;
    take(line.subarray(1));
    const before = bytes;
    bytes += line.length - 1;
    if (Math.floor(before / PROGRESS_EVERY_BYTES) < Math.floor(bytes / PROGRESS_EVERY_BYTES))
      onProgress(`received ${Math.floor(bytes / PROGRESS_EVERY_BYTES)} MiB`);
  }
  if (bytes === 0) throw new Error("it sent no objects");
  return shallow;
}

/** What a server says to people, cut and without what a terminal would act on. */
function remoteWords(line: Uint8Array): string {
  const said = Buffer.from(line)
    .toString("utf8")
    .replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]+/gu, " ");
  return `the server says: ${said.trim().slice(0, REMOTE_WORDS_CHARACTERS)}`;
}
