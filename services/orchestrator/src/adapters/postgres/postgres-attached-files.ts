import type { Database } from "@hlvm/postgres/database";
import type { AttachedFile, AttachedFiles } from "../../domain/session/attached-files.ts";

/** Parameters for the columns of files that are inserted: hashes, media types, data. */
export function fileColumns(files: readonly AttachedFile[]): unknown[][] {
  const buffers = files.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  return [files.map(({ sha256 }) => sha256), files.map(({ mediaType }) => mediaType), buffers];
}

/** Images and documents of sessions in PostgreSQL. */
export class PostgresAttachedFiles implements AttachedFiles {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(sessionId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const rows = await this.#database.query<{ sha256: string; data: Uint8Array }>(
      "SELECT sha256, data FROM attachment WHERE session_id = $1 AND sha256 = ANY($2)",
      [sessionId, hashes],
      "read_attachments",
    );
    return new Map(rows.map(({ sha256, data }) => [sha256, data]));
  }

  async size(sessionId: string): Promise<number> {
    const [row] = await this.#database.query<{ bytes: string }>(
      "SELECT coalesce(sum(octet_length(data)), 0) AS bytes FROM attachment WHERE session_id = $1",
      [sessionId],
      "size_of_attachments",
    );
    return Number(row?.bytes ?? 0);
  }
}
