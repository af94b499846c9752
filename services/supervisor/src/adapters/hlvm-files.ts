import { createHash, randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "@hlvm/mesh/make-folder";
import { keepPrivateFile, keepPrivateFolder, type Notice } from "./private-file.ts";

/** Where everything lies in the HLVM directory. */
export interface HlvmFiles {
  readonly directory: string;
  readonly keys: string;
  readonly tokenFile: string;
  /** For Unix sockets: within the directory, or where its path is too long for one, in the folder for temporary files. */
  readonly sockets: string;
  readonly data: (name: string) => string;
  readonly logFile: (name: string) => string;
}

export interface Secrets {
  /** The password of each database role. */
  readonly databasePasswords: Readonly<Record<string, string>>;
  readonly meilisearchMasterKey: string;
  /** The path of the file with the keys that encrypt what the model gateway keeps. */
  readonly keyEncryptionKeys: string;
  /** With which gateways seal how answers are resumed. */
  readonly resumeKey: string;
}

/** A socket's path has at most 107 bytes, and PostgreSQL appends 19 of its own to its folder's. */
const MAXIMUM_SOCKET_FOLDER_BYTES = 80;

export function keepHlvmFiles(directory: string, notice: Notice): HlvmFiles {
  const sockets = socketFolder(directory);
  const keys = join(directory, "keys");
  for (const folder of [directory, keys, sockets]) keepPrivateFolder(folder, notice);
  for (const folder of ["run", "logs", "data"]) makeFolder(join(directory, folder));
  return {
    directory,
    keys,
    tokenFile: join(directory, "token"),
    sockets,
    data: (name) => join(directory, "data", name),
    logFile: (name) => join(directory, "logs", `${name}.log`),
  };
}

/** The local user's token: 32 random bytes in hex. */
export async function keepLocalToken(files: HlvmFiles, notice: Notice): Promise<void> {
  await keepPrivateFile(files.tokenFile, () => randomBytes(32).toString("hex"), notice);
}

/** Made once and kept; a role that is new gets its password added. */
export async function keepSecrets(files: HlvmFiles, databases: readonly string[], notice: Notice): Promise<Secrets> {
  const secret = (name: string): Promise<string> => keepPrivateFile(join(files.keys, name), () => randomBytes(24).toString("hex"), notice);
  const passwords = await Promise.all(databases.map(async (name) => [name, await secret(`${name}-password`)] as const));
  const keyEncryptionKeys = join(files.keys, "key-encryption-keys");
  await keepPrivateFile(keyEncryptionKeys, () => `first ${randomBytes(32).toString("base64")}\n`, notice);
  return {
    databasePasswords: Object.fromEntries(passwords),
    meilisearchMasterKey: await secret("meilisearch-master-key"),
    keyEncryptionKeys,
    resumeKey: await secret("resume-key"),
  };
}

function socketFolder(directory: string): string {
  const inside = join(directory, "run");
  if (Buffer.byteLength(inside) <= MAXIMUM_SOCKET_FOLDER_BYTES) return inside;
  const name = `hlvm-${createHash("sha256").update(directory).digest("hex").slice(0, 16)}`;
  const outside = join(tmpdir(), name);
  return Buffer.byteLength(outside) <= MAXIMUM_SOCKET_FOLDER_BYTES ? outside : join("/tmp", name);
}
