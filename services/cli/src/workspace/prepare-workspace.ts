import { randomUUID } from "node:crypto";
import { createClient, type Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { WorkspaceSource } from "../options/workspace-source.ts";
import type { Screen } from "../terminal/screen.ts";
import { packFolder } from "./pack-folder.ts";
import { sendPack } from "./send-pack.ts";

/** More than the service's own limit: it says why it gave up. */
const CLONE_MILLISECONDS = 660_000;

interface Preparing {
  readonly screen: Screen;
  readonly signal: AbortSignal;
}

/**
 * Has a workspace made for a session to be, and shows how far that is.
 * @returns the session's id; empty where it is to work on a folder that is there
 */
export async function prepareWorkspace(transport: Transport, source: WorkspaceSource, preparing: Preparing): Promise<string> {
  if (source.kind === "folder") return "";
  const sessionId = randomUUID();
  try {
    if (source.kind === "repository") await clone(transport, { ...source, sessionId }, preparing);
    else await upload(transport, sessionId, source, preparing);
  } finally {
    preparing.screen.status("");
  }
  return sessionId;
}

async function clone(
  transport: Transport,
  { sessionId, url, ref }: { sessionId: string; url: string; ref: string },
  { screen, signal }: Preparing,
): Promise<void> {
  screen.status("cloning");
  const client = createClient(SandboxService, transport);
  for await (const { event } of client.cloneWorkspace({ sessionId, url, ref }, { signal, timeoutMs: CLONE_MILLISECONDS })) {
    if (event.case === "progress") screen.status(`cloning: ${event.value}`);
    if (event.case === "workspace") return screen.note(`cloned ${event.value.branch || event.value.commit}`, "dim");
  }
  throw new HlvmError({
    code: "internal",
    reason: "clone_unfinished",
    message: "The repository's clone ended without a workspace.",
    advice: "Try again.",
  });
}

async function upload(
  transport: Transport,
  sessionId: string,
  { path, sendsSecrets }: { readonly path: string; readonly sendsSecrets: boolean },
  { screen, signal }: Preparing,
): Promise<void> {
  screen.status("packing the workspace");
  using pack = await packFolder(path, { sendsSecrets, signal });
  for (const file of pack.secretFiles)
    screen.note(`${file} is not sent: it is not committed, and holds what looks like a secret (--upload-secrets sends it).`, "warning");
  for (const repository of pack.otherRepositories) screen.note(`${repository} is not sent: it is a repository of its own.`, "warning");
  await sendPack(createClient(SandboxService, transport), { sessionId, pack, signal, onProgress: (text) => screen.status(text) });
}
