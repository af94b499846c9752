import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startPostgres, type PostgresOptions } from "./start-postgres.ts";

let folder: string;
let options: PostgresOptions;
let data: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hlvm-postgres-"));
  options = { directory: join(folder, "postgres"), socketDirectory: join(folder, "socket"), logFile: join(folder, "log"), durable: false };
  data = join(options.directory, "data");
});

afterEach(() => rmSync(folder, { recursive: true }));

it("starts on what it made before, and never makes data anew where there was some", async () => {
  const first = await startPostgres(options);
  await first.stop();
  renameSync(data, `${data}-away`);
  await expect(startPostgres(options)).rejects.toMatchObject({ reason: "postgres_data_missing", message: expect.stringContaining(data) });
  renameSync(`${data}-away`, data);
  const again = await startPostgres(options);
  expect(again.url("postgres")).toBe(first.url("postgres"));
  await again.stop();
});

it("begins again after a start that was cut off while the data was being made", async () => {
  mkdirSync(join(`${data}.unfinished`, "base"), { recursive: true });
  const postgres = await startPostgres(options);
  await postgres.stop();
  expect(postgres.pid).toBeGreaterThan(0);
});
